/** Rules of providers on tool calls: compiled when they are registered, tried on every call of the session. */
import { GatewayErrorCode, type ProviderHookRule } from '@atrium/protocol/provider';
import { glob } from '../../tools/glob.js';
import { isRecord } from '../../tools/shape.js';
import { GatewayError } from '../gateway-error.js';
import { type MatchResult, PATTERN_MAX_CHARACTERS, Pattern, tryPatterns } from './budget.js';

/** A call as rules see it. */
export interface RuledCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The provider whose tool it is. */
  readonly provider: string | undefined;
}

export interface CompiledRule {
  readonly rule: ProviderHookRule;
  readonly pattern: Pattern | undefined;
  readonly isPath: ((path: string) => boolean) | undefined;
}

/** Names under which agents know the same tool. */
const ALIASES: readonly ReadonlySet<string>[] = [
  new Set(['shell', 'bash', 'Bash', 'execute', 'run_command']),
  new Set(['read_file', 'Read', 'read', 'view']),
  new Set(['write_file', 'Write', 'write', 'create']),
  new Set(['edit_file', 'Edit', 'edit', 'str_replace']),
];

/** Throws for a rule that could never be tried. Nothing of its message counts then. */
export function compileRules(rules: readonly ProviderHookRule[]): CompiledRule[] {
  return rules.map((rule) => {
    const { args, file } = rule.match;
    return {
      rule,
      pattern: args === undefined ? undefined : compilePattern(args),
      isPath: file === undefined ? undefined : glob(file),
    };
  });
}

export function compilePattern(source: string): Pattern {
  if (source.length > PATTERN_MAX_CHARACTERS)
    throw new GatewayError(GatewayErrorCode.InvalidJson, `a pattern has at most ${PATTERN_MAX_CHARACTERS} characters`);
  try {
    return new Pattern(source);
  } catch {
    throw new GatewayError(GatewayErrorCode.InvalidJson, 'a pattern is not a regular expression: correct it');
  }
}

/** The rules that apply. One that ran out of time applies when it guards something, and not when it only adds text. */
export function matching(rules: readonly CompiledRule[], call: RuledCall): ProviderHookRule[] {
  const candidates = rules.filter((compiled) => mayApply(compiled, call));
  const patterns = candidates.flatMap(({ pattern }) => pattern ?? []);
  const results = patterns.length === 0 ? [] : tryPatterns(patterns, JSON.stringify(call.args));
  const byPattern = new Map(patterns.map((pattern, index) => [pattern, results[index]]));
  return candidates
    .filter(({ pattern, rule }) => !pattern || applies(byPattern.get(pattern) ?? 'cut', rule))
    .map(({ rule }) => rule);
}

function applies(result: MatchResult, { action }: ProviderHookRule): boolean {
  return result === 'match' || (result === 'cut' && action !== 'context');
}

/** The cheap conditions; the pattern comes last. */
function mayApply({ rule, isPath }: CompiledRule, { tool, args, provider }: RuledCall): boolean {
  const { match } = rule;
  if (match.tool !== undefined && match.tool !== '*' && !isSameTool(match.tool, tool)) return false;
  if (match.provider !== undefined && match.provider !== provider) return false;
  return !isPath || pathsIn(args).some(isPath);
}

function isSameTool(one: string, other: string): boolean {
  return one === other || ALIASES.some((names) => names.has(one) && names.has(other));
}

const PATH_KEY = /^(?:.*_)?(?:path|paths|file|files|filename|filepath|folder|dir|directory)$/i;

/** Arguments that look like paths, wherever they stand. */
function pathsIn(value: unknown, key = ''): string[] {
  if (typeof value === 'string') return PATH_KEY.test(key) ? [value.replaceAll('\\', '/')] : [];
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, key));
  return isRecord(value) ? Object.entries(value).flatMap(([name, item]) => pathsIn(item, name)) : [];
}
