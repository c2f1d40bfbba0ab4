/** One file: read within limits, parsed with comments allowed, checked, its relative paths made whole. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type * as Jsonc from 'jsonc-parser';
import { checked, type Finding } from './check.js';
import { brokenRules } from './rules.js';
import { CONFIG_SCHEMA, type Config } from './schema.js';
import { wholePaths } from './whole-paths.js';

/** A file that people write by hand stays far below this. */
export const CONFIG_MAX_BYTES = 256 * 1024;

/** Enough to mend a file; finding the lines of thousands would keep the host busy. */
export const FINDINGS_MAX = 20;
/** A pipe in place of a file must not keep the host waiting for somebody to write into it. */
const READ_AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** A file that cannot be used. The message names the file, the line and the column. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export interface ConfigFile {
  readonly file: string;
  readonly config: Config;
  readonly warnings: readonly string[];
}

/** Undefined when there is no such file; throws a `ConfigError` when it cannot be used. */
export async function readConfigFile(file: string): Promise<ConfigFile | undefined> {
  const text = await textOf(file);
  if (text === undefined) return undefined;
  const findings: Finding[] = [];
  const config = await parsed(text, findings);
  const said = (severity: Finding['severity']) =>
    findings
      .filter((finding) => finding.severity === severity)
      .sort((a, b) => a.offset - b.offset)
      .slice(0, FINDINGS_MAX)
      .map(({ offset, message }) => `${file}:${placeOf(text, offset)}: ${message}`);
  const errors = said('error');
  if (errors.length > 0) throw new ConfigError(errors.join('\n'));
  return { file, config: wholePaths(config, path.dirname(file)), warnings: said('warning') };
}

async function textOf(file: string): Promise<string | undefined> {
  const handle = await open(file, READ_AT_ONCE).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw new ConfigError(`${file}: cannot be read (${error.code})`);
  });
  if (!handle) return undefined;
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new ConfigError(`${file}: is not a file`);
    if (stat.size > CONFIG_MAX_BYTES) throw new ConfigError(`${file}: is larger than ${CONFIG_MAX_BYTES} bytes`);
    return (await handle.readFile('utf8')).replace(/^\uFEFF/, '');
  } finally {
    await handle.close();
  }
}

/** Parser and check call themselves for all that is nested; a file made to exhaust them must not end the host. */
async function parsed(text: string, findings: Finding[]): Promise<Config> {
  // Most hosts have no file; they need not load the parser.
  const jsonc = await import('jsonc-parser');
  try {
    return checkedConfig(jsonc, text, findings);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    findings.push({ severity: 'error', offset: 0, message: 'is nested too deep' });
    return {};
  }
}

function checkedConfig(jsonc: typeof Jsonc, text: string, findings: Finding[]): Config {
  const errors: Jsonc.ParseError[] = [];
  const tree = jsonc.parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) findings.push({ severity: 'error', offset: error.offset, message: inWords(jsonc, error) });
  if (!tree || error) return {};
  const config = (checked(CONFIG_SCHEMA, tree, (finding) => findings.push(finding), '') ?? {}) as Config;
  if (findings.some(({ severity }) => severity === 'error')) return {};
  for (const { path: at, message } of brokenRules(config)) {
    const offset = jsonc.findNodeAtLocation(tree, [...at])?.offset ?? 0;
    findings.push({ severity: 'error', offset, message });
  }
  return config;
}

/** `CommaExpected` becomes "comma expected". */
function inWords(jsonc: typeof Jsonc, { error }: Jsonc.ParseError): string {
  const code = jsonc.printParseErrorCode(error);
  return `this is not JSON: ${code.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()}`;
}

function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
}
