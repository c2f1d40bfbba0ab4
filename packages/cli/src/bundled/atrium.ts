/** The first file of the bundle, and the only one that Node itself compiles; the rest comes from the code cache. */
import { homedir } from 'node:os';
import { Chunks } from './chunks.js';
import { CodeCache, codeCacheFolder } from './code-cache.js';

/** After this time a host is ready, and has compiled the code that a start needs. */
const SAVE_AFTER_MS = 2_000;

const folder = codeCacheFolder({ platform: process.platform, env: process.env, home: homeFolder() });
const cache = folder === undefined ? undefined : CodeCache.open(folder);
new Chunks(import.meta.dirname, cache).load('command.cjs');

if (cache !== undefined) {
  setTimeout(() => cache.save(), SAVE_AFTER_MS).unref();
  process.once('exit', () => cache.save());
}

/** Empty for a user that the system does not know, as in some containers. */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}
