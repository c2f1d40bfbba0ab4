/**
 * What a text delta costs, and how that grows: it must be the same in a chat of 10,000 turns as in one of 10.
 * The yardstick is a bare spread of an object with as many members as a chat has.
 */
import { load, paired, ratio, report, size } from './measure.mjs';

const STEPS = size(200_000, 100);
/** A long answer; then the text starts anew, so that memory stays small. */
const STEPS_PER_ANSWER = 5_000;
const context = { now: 1 };

const delta = { type: 'chat/delta', turnId: 'now', partId: 'm', content: 'token ' };
const toolCallDelta = { type: 'chat/toolCallDelta', turnId: 'now', toolCallId: 'c', content: '{' };

const { reducers } = await paired(import.meta.url, {
  reducers: {
    atrium: {
      small: () => stream(10, delta),
      large: () => stream(10_000, delta),
      toolCalls: () => stream(10, toolCallDelta),
    },
    limits: { spread: () => spreads(10) },
  },
});

const limit = 'a bare spread of an object with as many members';
report([
  ratio(reducers, {
    name: 'reducers.delta',
    of: 'large',
    to: 'small',
    limit: 'a chat of 10 turns; here 10,000',
    target: { atMost: 1.3 },
    worse: 'searching',
  }),
  ratio(reducers, { name: 'reducers.spread', of: 'small', to: 'spread', limit, worse: 'allocation' }),
  ratio(reducers, { name: 'reducers.tool-call', of: 'toolCalls', to: 'spread', limit, worse: 'allocation' }),
]);

/** A chat with so many finished turns, and one in which text and a tool call stream. */
async function chatWith(turnCount) {
  const { chatReducer } = await load('protocol/dist/ahp-1/index.js');
  const at = new Date(0).toISOString();
  const message = { text: 'Go on', origin: { kind: 'user' } };
  const turns = Array.from({ length: turnCount }, (_, index) => ({
    id: `t${index}`,
    startedAt: at,
    duration: 1,
    message,
    responseParts: [{ kind: 'markdown', id: `p${index}`, content: `Answer ${index}` }],
    usage: { inputTokens: 10, outputTokens: 10 },
    state: 'complete',
  }));
  const fresh = { resource: 'ahp-chat:/bench', title: 'Bench', status: 1, modifiedAt: at, turns };
  const start = [
    { type: 'chat/turnStarted', turnId: 'now', startedAt: at, message },
    { type: 'chat/responsePart', turnId: 'now', part: { kind: 'reasoning', id: 'r', content: '' } },
    { type: 'chat/toolCallStart', turnId: 'now', toolCallId: 'c', toolName: 'read', displayName: 'Read' },
    { type: 'chat/responsePart', turnId: 'now', part: { kind: 'markdown', id: 'm', content: '' } },
  ].reduce((state, action) => chatReducer(state, action, context), fresh);
  return { start, chatReducer };
}

/** Reduces one action over and over, as a stream does. */
async function stream(turnCount, action) {
  const { start, chatReducer } = await chatWith(turnCount);
  if (chatReducer(start, action, context) === start) throw new Error(`${action.type} changes nothing`);
  return {
    slice() {
      let state = start;
      for (let step = 0; step < STEPS; step++) {
        if (step % STEPS_PER_ANSWER === 0) state = start;
        state = chatReducer(state, action, context);
      }
      return STEPS;
    },
  };
}

async function spreads(turnCount) {
  const { start } = await chatWith(turnCount);
  return {
    slice() {
      let state = start;
      for (let step = 0; step < STEPS; step++) state = { ...state };
      return STEPS;
    },
  };
}
