/**
 * Loads the files of the bundle, each when it is first required. A file is a script that is one function, because Node takes
 * compiled code only for scripts: `scripts/bundle.mjs` writes them, and knows the arguments. Node's own loader serves
 * everything else: built-in modules and packages.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';
import type { CodeCache } from './code-cache.js';

interface Chunk {
  exports: unknown;
}

type Run = (...given: unknown[]) => void;

export class Chunks {
  readonly #folder: string;
  readonly #cache: CodeCache | undefined;
  readonly #require: NodeJS.Require;
  readonly #loaded = new Map<string, Chunk>();

  constructor(folder: string, cache: CodeCache | undefined) {
    this.#folder = folder;
    this.#cache = cache;
    this.#require = createRequire(path.join(folder, 'atrium.cjs'));
  }

  load(name: string): unknown {
    const known = this.#loaded.get(name);
    if (known) return known.exports;
    const chunk: Chunk = { exports: {} };
    this.#loaded.set(name, chunk);
    try {
      this.#run(name, chunk);
    } catch (error) {
      this.#loaded.delete(name);
      throw error;
    }
    return chunk.exports;
  }

  #run(name: string, chunk: Chunk): void {
    const file = path.join(this.#folder, name);
    const bytes = readFileSync(file);
    // The files are ASCII, so that the text takes half of the memory and needs no decoding.
    const source = bytes.toString('latin1');
    const script = this.#cache?.compile({ file, bytes, source }) ?? new Script(source, { filename: file });
    const run = script.runInThisContext() as Run;
    run.call(chunk.exports, chunk.exports, this.#requireFrom, chunk, file, this.#folder, importPackage);
  }

  readonly #requireFrom = (id: string): unknown => (id.startsWith('./') ? this.load(id.slice(2)) : this.#require(id));
}

/** Packages that are not in the bundle. A script that comes from the cache cannot import by itself. */
function importPackage(name: string): Promise<unknown> {
  return import(name);
}
