import path from 'node:path';
import { GatewayErrorCode, type ProviderHookRule } from '@atrium/protocol/provider';
import type { GateCall } from '../../core/contracts/extension.js';
import { type Glob, glob } from '../../core/util/glob.js';
import { isRecord } from '../../core/util/shape.js';
import { GatewayError } from '../errors.js';
import type { GatewaySession } from '../gateway-session.js';
import { type Binding, extensionId } from '../provider.js';
import { type MatchResult, PATTERN_MAX_CHARACTERS, Pattern, tryPatterns } from './patterns.js';

/**
 * Names under which agents know the same tool, so that a rule about `shell` also holds where an agent runs its commands
 * as `Bash`. Each row is one tool: the host's name for it first, then the names that agents have for theirs.
 */
const ROWS: readonly (readonly string[])[] = [
  ['shell', 'bash', 'Bash', 'powershell', 'execute', 'run_command', 'run_in_terminal'],
  ['read_file', 'Read', 'read', 'view'],
  ['write_file', 'Write', 'write', 'create'],
  ['edit_file', 'Edit', 'MultiEdit', 'NotebookEdit', 'edit', 'str_replace', 'str_replace_editor', 'apply_patch'],
  ['find_files', 'Glob', 'glob'],
  ['search_files', 'Grep', 'grep', 'search'],
  ['list_files', 'LS', 'ls'],
  ['todo_list', 'TodoWrite', 'update_todo'],
];

const HOST_NAMES: ReadonlyMap<string, string> = new Map(
  ROWS.flatMap(([hostName = '', ...others]) => others.map((name) => [name, hostName] as const)),
);

/** The host's name for a tool. Names are compared as they are written: `Shell` is none of them. */
export function hostNameOf(tool: string): string {
  return HOST_NAMES.get(tool) ?? tool;
}

/** Rules of providers on tool calls: compiled when they are registered, tried on every call of the session. */

/** A call as rules see it. What is dear to find out is found out once, when a rule first asks. */
export interface RuledCall {
  readonly tool: string;
  /** The extension whose tool it is; absent for tools of the host and of the agent. */
  readonly owner: string | undefined;
  /** The arguments as compact JSON. */
  text(): string;
  /** The arguments that are paths; undefined when there are too many. */
  paths(): readonly string[] | undefined;
}

export interface CompiledRule {
  readonly rule: ProviderHookRule;
  readonly pattern: Pattern | undefined;
  readonly isPath: Glob | undefined;
}

/** Throws for a rule that could never be tried. Nothing of its message counts then. */
export function compileRules(rules: readonly ProviderHookRule[]): CompiledRule[] {
  return rules.map((rule) => {
    const { args, file } = rule.match;
    return {
      rule,
      pattern: args === undefined ? undefined : compilePattern(args),
      isPath: file === undefined ? undefined : compileGlob(file),
    };
  });
}

export function compilePattern(source: string): Pattern {
  checkLength(source);
  try {
    return new Pattern(source);
  } catch {
    throw new GatewayError(GatewayErrorCode.InvalidJson, 'a pattern is not a regular expression: correct it');
  }
}

function compileGlob(source: string): Glob {
  checkLength(source);
  return glob(source);
}

function checkLength({ length }: string): void {
  if (length > PATTERN_MAX_CHARACTERS)
    throw new GatewayError(GatewayErrorCode.InvalidJson, `a pattern has at most ${PATTERN_MAX_CHARACTERS} characters`);
}

/** What the quick conditions of a rule say. `match` is not yet the end of it when the rule has a pattern, too. */
export function quickResult({ rule, isPath }: CompiledRule, call: RuledCall): MatchResult {
  const { tool, provider } = rule.match;
  if (tool !== undefined && tool !== '*' && !isSameTool(tool, call)) return 'no-match';
  if (provider !== undefined && extensionId(provider) !== call.owner) return 'no-match';
  if (!isPath) return 'match';
  const paths = call.paths();
  if (!paths) return 'cut';
  return paths.some(isPath) ? 'match' : 'no-match';
}

/** Agents have their own names for the host's tools. A provider's tool has one name, whatever it looks like. */
function isSameTool(wanted: string, { tool, owner }: RuledCall): boolean {
  return wanted === tool || (owner === undefined && hostNameOf(wanted) === hostNameOf(tool));
}

/** The arguments of a call that name files or folders, in every form in which a rule may look for them. */

/** More paths than this in one call are not looked at one by one. */
export const PATHS_MAX = 1_000;

/** How keys end whose values are paths: `file_path`, `oldPath`, `fileName`, `dir`. */
const PATH_WORDS: ReadonlySet<string> = new Set(
  ['path', 'file', 'filename', 'filepath', 'pathname', 'folder', 'dir', 'cwd']
    .flatMap((word) => [word, `${word}s`])
    .concat('directory', 'directories'),
);

function isPathKey(key: string): boolean {
  const words = key.split(/[^A-Za-z0-9]|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());
  return PATH_WORDS.has(words.at(-1) ?? '') || PATH_WORDS.has(words.slice(-2).join(''));
}

/** Undefined when there are too many of them to tell. */
export function pathArguments(args: unknown, workingDirectory: string | undefined): readonly string[] | undefined {
  const found: string[] = [];
  collect(args, '', found);
  if (found.length > PATHS_MAX) return undefined;
  return [...new Set(found.flatMap((file) => formsOf(file, workingDirectory)))];
}

/** Stops soon after there are too many. */
function collect(value: unknown, key: string, found: string[]): void {
  if (found.length > PATHS_MAX) return;
  if (typeof value === 'string') {
    if (isPathKey(key)) found.push(value);
  } else if (Array.isArray(value)) for (const item of value) collect(item, key, found);
  else if (isRecord(value)) for (const [name, item] of Object.entries(value)) collect(item, name, found);
}

/** As it is meant, without detours; and seen from the session's folder, where it lies in there. */
function formsOf(file: string, workingDirectory: string | undefined): string[] {
  const plain = path.posix.normalize(file.replaceAll('\\', '/'));
  if (workingDirectory === undefined) return [plain];
  const folder = `${workingDirectory.replaceAll('\\', '/').replace(/\/$/, '')}/`;
  return plain.startsWith(folder) ? [plain, plain.slice(folder.length)] : [plain];
}

/**
 * Which rules apply to a call. All rules of a session are tried together when the first gate asks about it; the other
 * gates of the same call find the answer here.
 */

/** Changes come as a new list, so a list stands for its rules. */
type Rules = readonly ProviderHookRule[];

export interface AppliedRule {
  readonly rule: ProviderHookRule;
  /** It could not be tried on this call within its time, and applies to be on the safe side. */
  readonly isUntried: boolean;
}

export class RuleBook {
  readonly #compiled = new WeakMap<Rules, readonly CompiledRule[]>();
  readonly #found = new WeakMap<GateCall, Map<Rules, readonly AppliedRule[]>>();

  /** The rules of one provider in a session that apply, in their order. */
  applying({ rules, session }: Pick<Binding, 'rules' | 'session'>, call: GateCall): readonly AppliedRule[] {
    const found = this.#found.get(call) ?? new Map();
    this.#found.set(call, found);
    if (!found.has(rules)) this.#find([rules, ...listsIn(session)], call, found);
    return found.get(rules) ?? [];
  }

  #find(lists: readonly Rules[], call: GateCall, found: Map<Rules, readonly AppliedRule[]>): void {
    const ruled = ruledCall(call);
    const missing = [...new Set(lists)].filter((rules) => !found.has(rules));
    const candidates = missing.flatMap((rules) => candidatesIn(this.#compiledOf(rules), ruled));
    const patterns = candidates.flatMap(({ pattern }) => pattern ?? []);
    const results = patterns.length === 0 ? [] : tryPatterns(patterns, ruled.text());
    const byPattern = new Map(patterns.map((pattern, index) => [pattern, results[index]]));
    const applied = new Map(candidates.flatMap((candidate) => appliedOf(candidate, byPattern)));
    for (const rules of missing)
      found.set(
        rules,
        rules.flatMap((rule) => applied.get(rule) ?? []),
      );
  }

  #compiledOf(rules: Rules): readonly CompiledRule[] {
    const compiled = this.#compiled.get(rules) ?? compileRules(rules);
    this.#compiled.set(rules, compiled);
    return compiled;
  }
}

/** Of everybody who has a say in this session. */
function listsIn(session: GatewaySession): Rules[] {
  return session.bindings.filter(({ provider }) => session.isEnabled(provider.name)).map(({ rules }) => rules);
}

interface Candidate extends CompiledRule {
  readonly quick: MatchResult;
}

function candidatesIn(rules: readonly CompiledRule[], call: RuledCall): Candidate[] {
  return rules
    .map((compiled) => ({ ...compiled, quick: quickResult(compiled, call) }))
    .filter(({ quick }) => quick !== 'no-match');
}

/** Whoever guards something guards it also where nobody can tell; what only adds text stays silent then. */
function appliedOf(
  { rule, quick, pattern }: Candidate,
  byPattern: ReadonlyMap<Pattern, MatchResult | undefined>,
): [ProviderHookRule, AppliedRule][] {
  const tried = pattern ? (byPattern.get(pattern) ?? 'cut') : 'match';
  if (tried === 'no-match') return [];
  const isUntried = tried === 'cut' || quick === 'cut';
  return isUntried && rule.action === 'context' ? [] : [[rule, { rule, isUntried }]];
}

/** Some agents hand over a bare text or a list; rules and gates see these, too. */
export function argumentsOf({ input }: GateCall): Record<string, unknown> {
  return isRecord(input) ? input : { ...(input != null && { value: input }) };
}

function ruledCall(call: GateCall): RuledCall {
  const { toolName, owner, workingDirectory } = call;
  const args = argumentsOf(call);
  let text: string | undefined;
  let paths: readonly string[] | undefined | 'unknown' = 'unknown';
  return {
    tool: toolName,
    owner,
    text: () => {
      text ??= JSON.stringify(args);
      return text;
    },
    paths: () => {
      if (paths === 'unknown') paths = pathArguments(args, workingDirectory);
      return paths;
    },
  };
}
