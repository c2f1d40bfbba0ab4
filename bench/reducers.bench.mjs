/**
 * What a text delta costs, and how that grows: it must be the same in a session of 10,000 turns as in one of 10.
 * The yardstick is a bare spread of an object with as many members as a session has.
 */
import { sessionReducer } from '@atrium/protocol';
import { bestOf, report, rounded } from './measure.mjs';

const STEPS = 200_000;
const ROUNDS = 7;
/** A long answer; then the text starts anew, so that memory stays small. */
const STEPS_PER_ANSWER = 5_000;
const context = { now: 1 };

const delta = { type: 'session/delta', turnId: 'now', partId: 'm', content: 'token ' };
const toolCallDelta = { type: 'session/toolCallDelta', turnId: 'now', toolCallId: 'c', content: '{' };

const figures = bestOf(ROUNDS, STEPS, {
  small: stream(sessionWith(10), delta),
  large: stream(sessionWith(10_000), delta),
  toolCalls: stream(sessionWith(10), toolCallDelta),
  spread: spreads(sessionWith(10)),
});

report(
  {
    deltaCostRatio: rounded(figures.large / figures.small),
    deltaStepsPerSecond: Math.round(1e9 / figures.small),
    deltaStepsRelativeToSpread: rounded(figures.spread / figures.small),
    toolCallStepsRelativeToSpread: rounded(figures.spread / figures.toolCalls),
    spreadsPerSecond: Math.round(1e9 / figures.spread),
  },
  {
    deltaCostRatio: '10,000 turns against 10; at most 1.3',
    deltaStepsRelativeToSpread: 'of the speed of one bare object spread',
    toolCallStepsRelativeToSpread: 'of the speed of one bare object spread',
  },
);

function sessionWith(turnCount) {
  const turns = Array.from({ length: turnCount }, (_, index) => ({
    id: `t${index}`,
    userMessage: { text: `Question ${index}` },
    responseParts: [{ kind: 'markdown', id: `p${index}`, content: `Answer ${index}` }],
    usage: { inputTokens: 10, outputTokens: 10 },
    state: 'complete',
    error: undefined,
  }));
  const fresh = {
    summary: {
      resource: 'ahp-session:/bench',
      provider: 'offline',
      title: 'Bench',
      status: 1,
      createdAt: 0,
      modifiedAt: 0,
    },
    lifecycle: 'ready',
    serverTools: [],
    config: { schema: { type: 'object', properties: {} }, values: {} },
    customizations: [],
    turns,
  };
  return [
    { type: 'session/turnStarted', turnId: 'now', userMessage: { text: 'Go on' } },
    { type: 'session/responsePart', turnId: 'now', part: { kind: 'reasoning', id: 'r', content: '' } },
    { type: 'session/toolCallStart', turnId: 'now', toolCallId: 'c', toolName: 'read', displayName: 'Read' },
    { type: 'session/responsePart', turnId: 'now', part: { kind: 'markdown', id: 'm', content: '' } },
  ].reduce((state, action) => sessionReducer(state, action, context), fresh);
}

/** Reduces one action over and over, as a stream does. */
function stream(start, action) {
  return (count) => {
    let state = start;
    for (let step = 0; step < count; step++) {
      if (step % STEPS_PER_ANSWER === 0) state = start;
      state = sessionReducer(state, action, context);
    }
    return state;
  };
}

function spreads(start) {
  return (count) => {
    let state = start;
    for (let step = 0; step < count; step++) state = { ...state };
    return state;
  };
}
