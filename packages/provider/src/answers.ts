/** Answers to what the gateway asks besides tool calls: gates and sections of the prompt. */

import type { Log } from '@atrium/link';
import type {
  ProviderGateCheckMessage,
  ProviderTransformRequestMessage,
  ToGatewayMessage,
} from '@atrium/protocol/provider';
import { messageOf } from './errors.js';
import { allow, deny, type Gate, gateId, type Transform, type Verdict } from './hooks.js';

/** An error of the author's is no answer, and no answer means no, unless the gate says otherwise. */
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
