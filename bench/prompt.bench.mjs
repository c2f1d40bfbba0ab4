/**
 * What a prompt costs: eleven sections and ten texts of extensions, against joining the same text. The cost grows with
 * the length of the text, which is read a few times over, and with the number of texts; not with turns or sessions.
 */

import { CallbackMemory } from '@atrium/core/prompt/contributions.js';
import { renderPrompt } from '@atrium/core/prompt/prompt.js';
import { promptText } from '@atrium/core/util/prompt-sections.js';
import { modelAgent } from '@atrium/host';
import { report, rounded } from './measure.mjs';

const RENDERS = 2_000;
const ROUNDS = 9;
/** Paragraphs in each section, besides its own text. */
const PARAGRAPHS = 8;
const LONG = 10;

const models = [{ id: 'm', name: 'M' }];
const agent = modelAgent({ provider: 'm', displayName: 'M', kind: 'openai-compatible', baseURL: 'http://-', models });

const usual = await figures(PARAGRAPHS);
const long = await figures(PARAGRAPHS * LONG);

report(
  {
    'prompt.render': rounded(usual.render / usual.join),
    milliseconds: rounded(usual.render / 1e6, 4),
    characters: usual.characters,
    longPrompt: rounded(long.render / usual.render),
    longCharacters: long.characters,
  },
  {
    'prompt.render': '11 sections, 10 transforms, against joining the same text; at most 20',
    milliseconds: 'for one prompt; at most 0.2',
    longPrompt: `a prompt ${LONG} times as long against the usual one; at most ${LONG * 2}`,
  },
);

/** Nanoseconds for one prompt, and for joining what it consists of. */
async function figures(paragraphs) {
  const request = requestWith(paragraphs);
  const rendered = await renderPrompt(request);
  const parts = promptText(rendered).split('\n\n');
  const characters = promptText(rendered).length;
  let [render, join] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    render = Math.min(render, await nanoseconds(async () => promptText(await renderPrompt(request)).length));
    join = Math.min(join, await nanoseconds(async () => parts.join('\n\n').length));
  }
  return { render, join, characters };
}

async function nanoseconds(work) {
  const start = process.hrtime.bigint();
  let total = 0;
  for (let step = 0; step < RENDERS; step++) total += await work();
  if (total === 0) throw new Error('nothing was rendered');
  return Number(process.hrtime.bigint() - start) / RENDERS;
}

function requestWith(paragraphs) {
  const text = Array.from({ length: paragraphs }, (_, index) => `Paragraph ${index} of a section. `.repeat(4)).join(
    '\n\n',
  );
  const pristine = new Map(Object.entries(agent.sections).map(([id, own]) => [id, `${own}\n\n${text}`]));
  const ids = [...pristine.keys()];
  const actions = ['append', 'append', 'append', 'prepend', 'replace'];
  const transforms = Array.from({ length: 10 }, (_, index) => {
    const action = actions[index % actions.length];
    return { section: ids[index], action, content: action === 'replace' ? text : `Text ${index} of an extension.` };
  });
  const turn = {
    memory: new CallbackMemory(),
    clock: undefined,
    signal: new AbortController().signal,
    activeClients: [],
    clients: { mayAsk: () => false, ask: () => Promise.reject(new Error('the client is not asked')) },
  };
  return {
    session: 'ahp-session:/bench',
    backend: agent,
    pristine,
    extensions: transforms.map((transform, index) => {
      return { id: `e${index}`, name: `e${index}`, prompt: { transforms: [transform] } };
    }),
    facts: { agent: undefined, text: '', files: [] },
    logger: { log: () => {}, hears: () => false },
    turn,
  };
}
