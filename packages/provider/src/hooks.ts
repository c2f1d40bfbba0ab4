/** Gates, rules and prompt changes as an author writes them, and as the gateway wants them. */
import type { ProviderHookRule, ProviderMatch, ProviderTransform } from '@atrium/protocol/provider';

/** A tool call that waits at a gate. */
export interface GatedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly sessionId: string;
}

export type Verdict =
  | { readonly decision: 'allow' }
  | { readonly decision: 'deny'; readonly reason: string }
  | { readonly decision: 'context'; readonly reason: string };

export const allow = (): Verdict => ({ decision: 'allow' });
/** The model is told why. */
export const deny = (reason: string): Verdict => ({ decision: 'deny', reason });
/** Lets the call pass and tells the model something with it. */
export const context = (text: string): Verdict => ({ decision: 'context', reason: text });

/** Asks you about matching calls. You have five seconds; silence, and an error of yours, mean no. */
export interface Gate {
  readonly match: ProviderMatch;
  /** Silence, and an error of yours, mean yes. */
  readonly failOpen?: boolean;
  check(call: GatedCall): Verdict | Promise<Verdict>;
}

/** Blocks matching calls without asking. */
export interface DenyRule {
  readonly match: ProviderMatch;
  readonly reason: string;
}

/** Tells the model something with matching calls, without asking. */
export interface ContextRule {
  readonly match: ProviderMatch;
  readonly content: string;
}

export interface Rules {
  readonly gates?: readonly Gate[];
  readonly deny?: readonly DenyRule[];
  readonly contextRules?: readonly ContextRule[];
}

/** How one section of the system prompt changes. A callback has two seconds; `undefined` leaves the section alone. */
export type Transform =
  | { readonly append: string }
  | { readonly prepend: string }
  | { readonly replace: string }
  | { callback(current: string, about: TransformContext): string | undefined | Promise<string | undefined> };

export interface TransformContext {
  readonly section: string;
  readonly sessionId: string;
}

export type Transforms = Readonly<Record<string, Transform>>;

/** Gates are told apart by their place in the list, so the same list has the same ids after a reconnect. */
export function gateId(index: number): string {
  return `gate-${index + 1}`;
}

export function hookRules({ gates = [], deny: denied = [], contextRules = [] }: Rules): ProviderHookRule[] {
  return [
    ...denied.map(({ match, reason }) => ({ match, action: 'deny' as const, reason })),
    ...contextRules.map(({ match, content }) => ({ match, action: 'context' as const, content })),
    ...gates.map(({ match, failOpen }, index) => ({
      match,
      action: 'gate' as const,
      gateId: gateId(index),
      ...(failOpen !== undefined && { failOpen }),
    })),
  ];
}

export function wireTransforms(transforms: Transforms): Record<string, ProviderTransform> {
  const entries = Object.entries(transforms).map(
    ([section, transform]) => [section, wireTransform(transform)] as const,
  );
  return Object.fromEntries(entries);
}

export function wireTransform(transform: Transform): ProviderTransform {
  if ('append' in transform) return { action: 'append', content: transform.append };
  if ('prepend' in transform) return { action: 'prepend', content: transform.prepend };
  return 'replace' in transform ? { action: 'replace', content: transform.replace } : { action: 'callback' };
}
