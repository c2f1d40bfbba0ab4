/** Rules of providers on tool calls: compiled when they are registered, tried on every call of the session. */
import { GatewayErrorCode, type ProviderHookRule } from '@atrium/protocol/provider';
import { type Glob, glob } from '../../workspace/tools/glob.js';
import { extensionId } from '../extension-id.js';
import { GatewayError } from '../gateway-error.js';
import { hostNameOf } from './aliases.js';
import { type MatchResult, PATTERN_MAX_CHARACTERS, Pattern } from './budget.js';

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
