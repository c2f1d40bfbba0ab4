/** The published files of AHP 0.7.0: reducer fixtures, round trips and JSON Schemas, where they are at hand. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { reducers } from '../../../src/ahp-1/reducers.js';

type Json = Record<string, unknown>;

export interface UpstreamFixture {
  readonly file: string;
  readonly description: string;
  readonly reducer: keyof typeof reducers;
  readonly initial: Json;
  readonly actions: readonly Json[];
  readonly expected: Json;
}

/** The published files of AHP 0.7.0, when somebody has put them beside this checkout. */
export const UPSTREAM_FOLDER = fileURLToPath(new URL('../../../../../../shared/ahp-0.7.0/', import.meta.url));

export function readJson<T>(folder: string): (T & { file: string })[] {
  const path = join(UPSTREAM_FOLDER, folder);
  if (!existsSync(path)) return [];
  const files = readdirSync(path).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => ({ file, ...JSON.parse(readFileSync(join(path, file), 'utf8')) }));
}
