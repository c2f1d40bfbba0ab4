/** One configuration file: where it is, and how it is read, checked and completed. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type * as Jsonc from 'jsonc-parser';
import { checked, type Finding } from './check.js';
import { type AgentEntry, CONFIG_SCHEMA, type Config } from './config-schema.js';

export const PROJECT_FILE = 'atrium.json';

export interface SystemInfo {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** The user's own file, in the usual place of each system. */
export function userConfigFile({ platform, env, home }: SystemInfo): string {
  if (platform === 'win32') {
    const base = env.APPDATA || path.win32.join(home, 'AppData', 'Roaming');
    return path.win32.join(base, 'atrium', 'config.json');
  }
  if (platform === 'darwin') return path.posix.join(home, 'Library', 'Application Support', 'atrium', 'config.json');
  const shared = env.XDG_CONFIG_HOME;
  const base = shared && path.posix.isAbsolute(shared) ? shared : path.posix.join(home, '.config');
  return path.posix.join(base, 'atrium', 'config.json');
}

/** Files that people write by hand are far smaller. */
export const CONFIG_MAX_BYTES = 256 * 1024;

/** Enough to correct a file; computing the lines of thousands would block the host. */
export const FINDINGS_MAX = 20;
/** Opening a pipe in place of a file must not block the host until something writes to it. */
const READ_AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** An unusable file. The message names the file, the line and the column. */
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

/** Parser and check are recursive; a file that exhausts the stack must not end the host. */
async function parsed(text: string, findings: Finding[]): Promise<Config> {
  // Loaded only on hosts that have a configuration file.
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
  if (error) findings.push({ severity: 'error', offset: error.offset, message: readableError(jsonc, error) });
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
function readableError(jsonc: typeof Jsonc, { error }: Jsonc.ParseError): string {
  const code = jsonc.printParseErrorCode(error);
  return `this is not JSON: ${code.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()}`;
}

function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
}

interface BrokenRule {
  readonly path: readonly string[];
  readonly message: string;
}

/** The ids of built-in agents. */
const BUILT_IN = ['offline'];
/** Headers that usually carry keys. */
const SECRET_HEADER = /^(authorization|proxy-authorization|cookie|x-api-key|api-key|x-goog-api-key)$/i;

/** Rules between keys, which a schema cannot express. */
function brokenRules({ agents = {} }: Config): BrokenRule[] {
  return Object.entries(agents).flatMap(([id, entry]) => [
    ...rulesOfName(id, entry),
    ...rulesOfAddress(id, entry),
    ...rulesOfHeaders(id, entry),
  ]);
}

function rulesOfName(id: string, entry: AgentEntry): BrokenRule[] {
  if (!('type' in entry) || !BUILT_IN.includes(id)) return [];
  return [{ path: ['agents', id], message: `agents.${id}: this is the id of a built-in agent; choose another` }];
}

function rulesOfAddress(id: string, entry: AgentEntry): BrokenRule[] {
  if (!('api' in entry) || entry.api !== 'openai-compatible' || entry.baseURL !== undefined) return [];
  const message = `agents.${id} must have "baseURL", such as http://localhost:11434/v1: there is no usual address for "openai-compatible"`;
  return [{ path: ['agents', id, 'api'], message }];
}

function rulesOfHeaders(id: string, entry: AgentEntry): BrokenRule[] {
  const names = Object.keys(('headers' in entry && entry.headers) || {}).filter((name) => SECRET_HEADER.test(name));
  return names.map((name) => ({
    path: ['agents', id, 'headers', name],
    message: `agents.${id}.headers.${name}: keys must not be in this file; name its variable in "apiKeyEnv"`,
  }));
}

/** Relative paths start from the folder of the file, wherever the host was started. */
function wholePaths(config: Config, folder: string): Config {
  const { agents, providers, plugins } = config;
  return {
    ...config,
    ...(agents && { agents: mapValues(agents, (entry) => wholeAgent(entry, folder)) }),
    ...(providers && { providers: mapValues(providers, (entry) => wholeProcess(entry, folder)) }),
    ...(plugins && { plugins: plugins.map((plugin) => path.resolve(folder, plugin)) }),
  };
}

function wholeAgent(entry: AgentEntry, folder: string): AgentEntry {
  return 'command' in entry ? wholeProcess(entry, folder) : entry;
}

/** A bare name is looked up on PATH. */
function wholeProcess<Entry extends { readonly command: string; readonly cwd?: string }>(
  entry: Entry,
  folder: string,
): Entry {
  const { command, cwd } = entry;
  return {
    ...entry,
    ...(/[\\/]/.test(command) && { command: path.resolve(folder, command) }),
    ...(cwd !== undefined && { cwd: path.resolve(folder, cwd) }),
  };
}

function mapValues<Value>(record: Readonly<Record<string, Value>>, change: (value: Value) => Value) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
