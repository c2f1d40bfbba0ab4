/** Which rules a tool call meets. Simple on purpose: patterns in a test are the author's own. */
import type { ProviderHookRule, ProviderMatch } from '@atrium/protocol/provider';

export interface MatchedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The provider whose tool it is, if it is one's. */
  readonly provider?: string | undefined;
}

export function matchingRules(rules: readonly ProviderHookRule[], call: MatchedCall): ProviderHookRule[] {
  return rules.filter(({ match }) => matches(match, call));
}

function matches({ tool, args, provider, file }: ProviderMatch, call: MatchedCall): boolean {
  return (
    (tool === undefined || tool === '*' || tool === call.tool) &&
    (provider === undefined || provider === call.provider) &&
    (args === undefined || new RegExp(args).test(JSON.stringify(call.args))) &&
    (file === undefined || paths(call.args).some((path) => glob(file).test(path)))
  );
}

function paths(args: MatchedCall['args']): string[] {
  return Object.values(args).filter((value) => typeof value === 'string');
}

/** A pattern without a slash is about the last part of a path. */
function glob(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('**', '\0')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]')
    .replaceAll('\0', '.*');
  return new RegExp(pattern.includes('/') ? `^${source}$` : `(^|/)${source}$`);
}
