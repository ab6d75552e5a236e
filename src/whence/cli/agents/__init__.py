"""``whence mcp``: what agents ask over the Model Context Protocol, each question answered by a process of its own.

``server`` has the tools and resources, ``question`` is what one of them asks, ``search`` starts and ends the process
that answers it, ``answering`` is that process, ``folder`` keeps to the folder that the server was started in.
"""
