"""What ``whence mcp`` and ``whence lsp`` serve to agents and editors; a process of its own answers each question.

``mcp_server`` and ``lsp_server`` speak the two protocols, ``located`` is what an editor shows of a result,
``question`` is what is asked, ``search`` starts and ends the process that answers it, ``answering`` is that process,
``folder`` keeps an agent to the folder that its server was started in, ``kit`` says what to install.
"""
