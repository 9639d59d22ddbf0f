def run(program, pool, cache, quick):
    return None
