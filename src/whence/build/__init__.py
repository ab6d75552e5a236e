"""From the user's own build to instrumented variants: compiler wrapper, IR store, re-linking.
 What others use: ``capture.read_executable`` (modules and link line of a finished program),
``ir.canonical_text``, ``variant.build_variant`` and ``variant.runtime_objects``, ``quick.build_sources``,
``toolchain.find_toolchain``. Nothing is imported here, because ``wrapper`` (``whence-cc``) must start within
a few milliseconds.
"""
