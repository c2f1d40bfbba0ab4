/**
 * What a prompt costs: eleven sections and ten texts of extensions, against joining the same text. The cost grows with
 * the length of the text, which is read a few times over, and with the number of texts; not with turns or sessions.
 */
import { absolute, load, loadHost, paired, ratio, report, size } from './measure.mjs';

const RENDERS = size(2_000, 5);
/** Paragraphs in each section, besides its own text. */
const PARAGRAPHS = 8;
const LONG = 10;

const { prompt } = await paired(import.meta.url, {
  prompt: {
    atrium: { usual: () => rendered(PARAGRAPHS), long: () => rendered(PARAGRAPHS * LONG) },
    limits: { join: () => joined(PARAGRAPHS) },
  },
});

report([
  ratio(prompt, {
    name: 'prompt.render',
    of: 'usual',
    to: 'join',
    limit: 'joining the same text; here 11 sections, 10 transforms',
    target: { atMost: 20 },
    worse: 'copies',
  }),
  absolute(prompt, {
    name: 'prompt.ms',
    of: 'usual',
    pick: ({ cost }) => cost / 1_000,
    unit: 'ms',
    target: { atMost: 0.2 },
    worse: 'copies',
  }),
  ratio(prompt, {
    name: 'prompt.long',
    of: 'long',
    to: 'usual',
    limit: `the usual prompt; here one ${LONG} times as long`,
    target: { atMost: LONG * 2 },
    worse: 'rereading',
  }),
]);

async function rendered(paragraphs) {
  const { renderPrompt, promptText } = await promptModules();
  const request = await requestWith(paragraphs);
  return repeated(async () => promptText(await renderPrompt(request)).length);
}

async function joined(paragraphs) {
  const { renderPrompt, promptText } = await promptModules();
  const parts = promptText(await renderPrompt(await requestWith(paragraphs))).split('\n\n');
  return repeated(async () => parts.join('\n\n').length);
}

async function promptModules() {
  const { renderPrompt } = await load('core/dist/prompt/prompt.js');
  const { promptText } = await load('core/dist/util/prompt-sections.js');
  return { renderPrompt, promptText };
}

function repeated(work) {
  return {
    async slice() {
      let total = 0;
      for (let step = 0; step < RENDERS; step++) total += await work();
      if (total === 0) throw new Error('nothing was rendered');
      return RENDERS;
    },
  };
}

async function requestWith(paragraphs) {
  const { modelAgent } = await loadHost();
  const { CallbackMemory } = await load('core/dist/prompt/contributions.js');
  const models = [{ id: 'm', name: 'M' }];
  const agent = modelAgent({ provider: 'm', displayName: 'M', kind: 'openai-compatible', baseURL: 'http://-', models });
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
    clients: { canAsk: () => false, ask: () => Promise.reject(new Error('the client is not asked')) },
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
