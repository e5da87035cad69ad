"""What people write for a host: TOML, `.kron` lines and crontabs, read into one value a job.

Admitted: texts in, jobs and findings out. Never: the disk, users of the machine, the time; what a text cannot know of
its machine is a parameter.
"""
