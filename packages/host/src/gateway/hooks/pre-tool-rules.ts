/**
 * Rules of providers about tool calls: compiled when they are registered, tried on every call of the session. A rule
 * names a tool, its provider, a file glob, or a pattern for the arguments.
 */
import path from 'node:path';
import type { GateCall } from '@atrium/core/contracts/extension.js';
import { type Glob, glob } from '@atrium/core/util/glob.js';
import { type MatchResult, PATTERN_MAX_CHARACTERS, Pattern, tryPatterns } from '@atrium/core/util/patterns.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { GatewayErrorCode, type ProviderHookRule } from '@atrium/protocol/provider';
import { GatewayError } from '../gateway-errors.js';
import type { GatewaySession } from '../gateway-session.js';
import { type Binding, extensionId } from '../provider.js';

/** Throws for a rule that can never be tried; the gateway then refuses the whole message. */
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

interface CompiledRule {
  readonly rule: ProviderHookRule;
  readonly pattern: Pattern | undefined;
  readonly isPath: Glob | undefined;
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

/** An update brings a new list, so the list object identifies its rules. */
type Rules = readonly ProviderHookRule[];

export interface AppliedRule {
  readonly rule: ProviderHookRule;
  /** The rule could not be evaluated in time, and applies because gates fail closed. */
  readonly isUnevaluated: boolean;
}

/**
 * Finds the rules that apply to a call. The first gate that asks has all rules of the session tried together; the other
 * gates of the same call reuse the answer.
 */
export class RuleBook {
  readonly #compiled = new WeakMap<Rules, readonly CompiledRule[]>();
  readonly #found = new WeakMap<GateCall, Map<Rules, readonly AppliedRule[]>>();

  /** The rules of one provider in a session that apply, in order. */
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

/** The rules of all providers that are not switched off in this session. */
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

/** Gates fail closed when a match cannot be evaluated; rules that only add text then do not apply. */
function appliedOf(
  { rule, quick, pattern }: Candidate,
  byPattern: ReadonlyMap<Pattern, MatchResult | undefined>,
): [ProviderHookRule, AppliedRule][] {
  const tried = pattern ? (byPattern.get(pattern) ?? 'cut') : 'match';
  if (tried === 'no-match') return [];
  const isUnevaluated = tried === 'cut' || quick === 'cut';
  return isUnevaluated && rule.action === 'context' ? [] : [[rule, { rule, isUnevaluated }]];
}

/** Some agents pass plain text or a list, which rules and gates see as `value`. */
export function argumentsOf({ input }: GateCall): Record<string, unknown> {
  return isRecord(input) ? input : { ...(input != null && { value: input }) };
}

/** A call as rules see it. Costly parts are computed once, when a rule first needs them. */
interface RuledCall {
  readonly tool: string;
  /** The extension that owns the tool; absent for tools of the host and of the agent. */
  readonly owner: string | undefined;
  /** The arguments as compact JSON. */
  text(): string;
  /** The arguments that are paths; undefined when there are too many. */
  paths(): readonly string[] | undefined;
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

/** Evaluates the cheap conditions of a rule. After `match`, its pattern still has to match, if it has one. */
function quickResult({ rule, isPath }: CompiledRule, call: RuledCall): MatchResult {
  const { tool, provider } = rule.match;
  if (tool !== undefined && tool !== '*' && !isSameTool(tool, call)) return 'no-match';
  if (provider !== undefined && extensionId(provider) !== call.owner) return 'no-match';
  if (!isPath) return 'match';
  const paths = call.paths();
  if (!paths) return 'cut';
  return paths.some(isPath) ? 'match' : 'no-match';
}

/** Agents have their own names for the host's tools. A provider's tool has only its own name. */
function isSameTool(wanted: string, { tool, owner }: RuledCall): boolean {
  return wanted === tool || (owner === undefined && hostNameOf(wanted) === hostNameOf(tool));
}

/**
 * Names by which agents know the same tool, so that a rule about `shell` also applies where an agent runs its commands
 * as `Bash`. Each row is one tool: the host's name for it, then the agents' names.
 */
const TOOL_ALIASES: readonly (readonly string[])[] = [
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
  TOOL_ALIASES.flatMap(([hostName = '', ...others]) => others.map((name) => [name, hostName] as const)),
);

/** The host's name for a tool. Case matters: `Shell` is not an alias. */
export function hostNameOf(tool: string): string {
  return HOST_NAMES.get(tool) ?? tool;
}

/** A call with more paths is not evaluated path by path: rules with a file glob apply to it. */
export const PATHS_MAX = 1_000;

/** The last word of keys whose values are paths: `file_path`, `oldPath`, `fileName`, `dir`. */
const PATH_WORDS: ReadonlySet<string> = new Set(
  ['path', 'file', 'filename', 'filepath', 'pathname', 'folder', 'dir', 'cwd']
    .flatMap((word) => [word, `${word}s`])
    .concat('directory', 'directories'),
);

function isPathKey(key: string): boolean {
  const words = key.split(/[^A-Za-z0-9]|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());
  return PATH_WORDS.has(words.at(-1) ?? '') || PATH_WORDS.has(words.slice(-2).join(''));
}

/**
 * The arguments that name files or folders, in every form that a rule may look for; undefined when there are too many.
 */
export function pathArguments(args: unknown, workingDirectory: string | undefined): readonly string[] | undefined {
  const found: string[] = [];
  collect(args, '', found);
  if (found.length > PATHS_MAX) return undefined;
  return [...new Set(found.flatMap((file) => formsOf(file, workingDirectory)))];
}

/** Stops once it has found too many. */
function collect(value: unknown, key: string, found: string[]): void {
  if (found.length > PATHS_MAX) return;
  if (typeof value === 'string') {
    if (isPathKey(key)) found.push(value);
  } else if (Array.isArray(value)) for (const item of value) collect(item, key, found);
  else if (isRecord(value)) for (const [name, item] of Object.entries(value)) collect(item, name, found);
}

/** The normalized path, and also its form relative to the session's folder if it lies there. */
function formsOf(file: string, workingDirectory: string | undefined): string[] {
  const plain = path.posix.normalize(file.replaceAll('\\', '/'));
  if (workingDirectory === undefined) return [plain];
  const folder = `${workingDirectory.replaceAll('\\', '/').replace(/\/$/, '')}/`;
  return plain.startsWith(folder) ? [plain, plain.slice(folder.length)] : [plain];
}
