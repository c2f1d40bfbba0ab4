/**
 * Gates, rules and prompt transforms: as an author writes them, as the gateway wants them, and the answers to its
 * questions.
 */
import type { Log } from '@atrium/link';
import type {
  ProviderGateCheckMessage,
  ProviderHookRule,
  ProviderMatch,
  ProviderTransform,
  ProviderTransformRequestMessage,
  ToGatewayMessage,
} from '@atrium/protocol/provider';
import { messageOf } from './errors.js';

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

/** A gate that throws denies the call, unless it is `failOpen`. */
export async function gateAnswer(
  gates: readonly Gate[],
  { gateId: asked, callId, tool, args, sessionId }: ProviderGateCheckMessage,
  log: Log,
): Promise<ToGatewayMessage> {
  const gate = gates.find((_, index) => gateId(index) === asked);
  const answer = (verdict: Verdict): ToGatewayMessage => ({ type: 'gate.result', gateId: asked, callId, ...verdict });
  if (!gate) return answer(deny(`there is no gate ${asked} any more`));
  try {
    return answer(await gate.check({ tool, args, sessionId }));
  } catch (error) {
    log(`the gate on ${tool} failed`, error);
    return answer(gate.failOpen ? allow() : deny(`the check failed: ${messageOf(error)}`));
  }
}

/** Without content the section stays as it was. */
export async function transformAnswer(
  transform: Transform | undefined,
  { callId, section, current, sessionId }: ProviderTransformRequestMessage,
  log: Log,
): Promise<ToGatewayMessage> {
  const unchanged: ToGatewayMessage = { type: 'transform.result', callId };
  if (!transform || !('callback' in transform)) return unchanged;
  try {
    const content = await transform.callback(current, { section, sessionId });
    return content === undefined ? unchanged : { ...unchanged, content };
  } catch (error) {
    log(`the transform of ${section} failed`, error);
    return unchanged;
  }
}
