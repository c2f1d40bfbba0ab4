import type { AgentAbilities } from '@atrium/core/contracts/agent.js';
import { unsupportedTransforms } from '@atrium/core/prompt/contributions.js';
import { describe, expect, it } from 'vitest';
import { backendOf, extension, PRISTINE, rendered, transforms } from '../support/prompts.js';

const EVERYTHING = [
  extension('rules', { rules: () => ['Use tabs.'] }),
  transforms('texts', ['append', 'safety', 'Mind the gap.'], ['replace', 'tone', 'Sing.'], ['prepend', 'tone', 'Hum.']),
  extension('asks', { callbacks: [{ section: 'tone', transform: async () => 'Shout.' }] }),
];
const client = { sections: ['custom_instructions'], rewrite: () => ({ custom_instructions: 'Sing.' }) };

describe('an agent whose prompt is its own', () => {
  it.each(['append', 'preface'] as const)(
    '[UNI-090] gets rules and additions as one text, and nobody else has a say (%s)',
    async (render) => {
      const backend = backendOf(PRISTINE, render);
      const sections = await rendered({ backend, extensions: EVERYTHING, client });
      expect(Object.fromEntries(sections)).toEqual({ custom_instructions: 'Use tabs.\n\nMind the gap.' });
      expect((await rendered({ backend, client })).size).toBe(0);
    },
  );

  it('gets nothing when it takes nothing', async () => {
    expect((await rendered({ backend: backendOf(PRISTINE, 'none'), extensions: EVERYTHING })).size).toBe(0);
  });
});

describe('[UNI-097] what cannot be done is said', () => {
  const said = (render: AgentAbilities['render'], ...extensions: typeof EVERYTHING) =>
    unsupportedTransforms(backendOf(PRISTINE, render).abilities, extensions);
  const [rules, , asks] = EVERYTHING as [(typeof EVERYTHING)[0], (typeof EVERYTHING)[0], (typeof EVERYTHING)[0]];
  const appends = transforms('appends', ['append', 'tone', 'x']);

  it('once, by what the agent can do', () => {
    expect(said('append', ...EVERYTHING)).toEqual(['transforms:append']);
    expect(said('preface', transforms('a', ['prepend', 'tone', 'x']))).toEqual(['transforms:preface']);
    expect(said('append', asks)).toEqual(['transforms:append']);
    expect(said('none', appends)).toEqual(['transforms:none']);
  });

  it('and nothing is said of what works', () => {
    expect(said('sections', ...EVERYTHING)).toEqual([]);
    expect(said('append', rules, appends)).toEqual([]);
    expect(said('none', rules)).toEqual([]);
  });
});
