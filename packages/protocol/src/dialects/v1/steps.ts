/**
 * A tick's worth of one channel's actions in version-1 envelopes. All actions made from one internal action carry its
 * number. The whole batch is seen at once, because a refusal by the host must be known before its question is sent.
 */
import type { V1Action, V1ActionEnvelope } from '../../versions/v1.js';
import type { ChannelMemory, Step } from '../dialect.js';
import { actionToV1, echoIndex } from './actions.js';
import { isPending, remember } from './permissions.js';
import { callAround, callRefused, refusedCallAppears } from './tool-call-actions.js';
import type { StepContext, V1ActionBody } from './translator.js';
import { sessionToV1 } from './uris.js';

export interface V1Steps {
  readonly memory: ChannelMemory;
  readonly frames: readonly V1ActionEnvelope[];
  readonly close?: string;
}

const TRUNCATED = 'The history was cut, which version 1 cannot express: reconnect for a snapshot.';

/** `steps` are of one channel, in order. After a cut nothing more is sent, but the memory keeps step with the state. */
export function translateSteps(memory: ChannelMemory, steps: readonly Step[]): V1Steps {
  const accepted = acceptedSteps(steps);
  const frames: V1ActionEnvelope[] = [];
  let current = memory;
  let close: string | undefined;
  accepted.forEach((step, index) => {
    current = remember(current, step);
    close ??= isCut(step) ? TRUNCATED : undefined;
    if (close !== undefined) return;
    frames.push(...envelopes(step, bodiesOf({ ...step, memory: current }, accepted[index - 1], accepted[index + 1])));
  });
  return close === undefined ? { memory: current, frames } : { memory: current, frames, close };
}

/** A rejection goes to one client only and changes nothing. */
export function acceptedSteps(steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ envelope }) => envelope.rejectionReason === undefined);
}

function isCut({ envelope, before, after }: Step): boolean {
  return envelope.action.type === 'session/truncated' && before !== after;
}

function bodiesOf(step: StepContext, previous: Step | undefined, next: Step | undefined): readonly V1ActionBody[] {
  const { action } = step.envelope;
  if (isRefusedAtOnce(step, next)) return refusedCallAppears(step);
  const isRefusal = previous !== undefined && isRefusedAtOnce(previous, step);
  return isRefusal && action.type === 'session/toolCallConfirmed' ? callRefused(action) : actionToV1(step);
}

/** Whether `step` asks a question that `next` refuses, both on the host's own account: then nobody needs to see it. */
function isRefusedAtOnce(step: Step, next: Step | undefined): boolean {
  const asked = step.envelope.action;
  const answer = next?.envelope.action;
  if (asked.type !== 'session/toolCallReady' || answer?.type !== 'session/toolCallConfirmed') return false;
  if (answer.approved || step.envelope.origin || next?.envelope.origin) return false;
  if (asked.toolCallId !== answer.toolCallId || asked.turnId !== answer.turnId) return false;
  const { was, is } = callAround(step, asked);
  return !isPending(was) && isPending(is);
}

function envelopes({ envelope, before, after }: Step, bodies: readonly V1ActionBody[]): V1ActionEnvelope[] {
  const { action, channel, serverSeq, origin } = envelope;
  const session = sessionToV1(channel, (after ?? before)?.summary.provider);
  const echo = echoIndex(action.type, bodies);
  return bodies.map((body, index) => {
    const named = withSession(body, session);
    return origin && index === echo ? { action: named, serverSeq, origin } : { action: named, serverSeq };
  });
}

/** Root actions name no session. */
function withSession(body: V1ActionBody, session: string): V1Action {
  return body.type === 'root/agentsChanged' ? body : ({ ...body, session } as V1Action);
}
