/**
 * The paths of the command and of the files that come with it. In a bundle, `scripts/bundle.mjs` replaces this file.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The file that starts this command in another process. */
export const COMMAND = fileURLToPath(new URL('../bin/atrium.js', import.meta.url));

/** The version of the program, from its package. */
export function version(): string {
  try {
    const file: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    return file.version;
  } catch {
    // Another bundle contains this code, without a package beside it.
    return 'unknown';
  }
}

/** The folder of the built page. */
export function pageFolder(): string {
  return path.join(path.dirname(fileURLToPath(import.meta.resolve('@atrium/web/package.json'))), 'dist');
}
