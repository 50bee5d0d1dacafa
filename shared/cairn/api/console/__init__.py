"""The console: pages for people in a browser. They call the use cases of the API, with no key."""
