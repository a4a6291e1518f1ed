"""The stages of run and demo, their manifests, what is stale and why."""
