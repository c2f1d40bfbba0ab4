/** The version of the program, as its package says. */
import { readFileSync } from 'node:fs';

export function version(): string {
  try {
    const file: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    return file.version;
  } catch {
    // Bundled into something else, it has no package beside it.
    return 'unknown';
  }
}
