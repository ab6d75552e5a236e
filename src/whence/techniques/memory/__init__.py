"""Memory checking: what each pointer was made for, and which accesses of a recorded run went elsewhere."""
