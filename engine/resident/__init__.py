"""An engine that stays loaded, so that a hook is answered as fast as Python starts.

``client`` asks it, importing next to nothing; where there is none, or any doubt, it becomes
``ringfence hook``, whose answer is the same to the byte, and which starts the ``server``.
"""
