import type { RenderFacts } from '@atrium/core/contracts/extension.js';
import { PROMPT_SECTION_MAX_CHARACTERS } from '@atrium/core/prompt/limits.js';
import type { LogFields } from '@atrium/core/util/logger.js';
import { promptText } from '@atrium/core/util/prompt-sections.js';
import { describe, expect, it } from 'vitest';
import { backendOf, extension, PRISTINE, rendered, renderedAtStart, transforms } from '../support/prompts.js';

describe('what a prompt is made of', () => {
  it('[UNI-027][UNI-028] the text of the agent, in its order, with safety last', async () => {
    const sections = await rendered();
    expect([...sections.keys()]).toEqual(['identity', 'tone', 'custom_instructions', 'last_instructions', 'safety']);
    expect(Object.fromEntries(sections)).toEqual(PRISTINE);
  });

  it('[UNI-028] the text that the agent hands in, when it has it only now', async () => {
    const pristine = new Map([
      ['tone', 'As of now.'],
      ['safety', 'Safe as of now.'],
    ]);
    const sections = await rendered({ pristine, extensions: [transforms('a', ['append', 'safety', 'More.'])] });
    expect(promptText(sections)).toBe('As of now.\n\n<additions to="safety">\nMore.\n</additions>\n\nSafe as of now.');
  });

  it('[UNI-027] rules, then static texts, then callbacks, then the client, each on what the one before it left', async () => {
    const say = (word: string) => (text: string) => `${text} ${word}`;
    const one = extension('one', {
      rules: () => ['rule'],
      transforms: [{ section: 'custom_instructions', action: 'append', content: 'static' }],
      callbacks: [{ section: 'custom_instructions', transform: async (text) => say('callback')(text) }],
    });
    const client = {
      sections: ['custom_instructions'],
      rewrite: ({ custom_instructions = '' }) => ({ custom_instructions: say('client')(custom_instructions) }),
    };
    const sections = await rendered({ extensions: [one], client });
    expect(sections.get('custom_instructions')).toBe('Rules follow.\n\nrule\n\nstatic callback client');
  });

  it('[UNI-037] without a turn nobody is asked, and everything that is known counts', async () => {
    const one = extension('one', {
      rules: () => ['rule'],
      transforms: [
        { section: 'tone', action: 'append', content: 'static' },
        { section: 'safety', action: 'append', content: 'aside' },
      ],
      callbacks: [{ section: 'tone', transform: async () => 'callback' }],
    });
    const sections = await renderedAtStart({ extensions: [one] });
    expect(sections.get('custom_instructions')).toBe('Rules follow.\n\nrule');
    expect(sections.get('tone')).toBe('Be brief.\n\nstatic');
    expect(promptText(sections)).toMatch(/aside\n<\/additions>\n\nBe safe\.$/);
  });
});

describe('rules', () => {
  it('[UNI-029] land in custom_instructions, in the order of the extensions', async () => {
    const seen: RenderFacts[] = [];
    const rules = (facts: RenderFacts) => {
      seen.push(facts);
      return ['Use tabs.', '', 'No semicolons.'];
    };
    const extensions = [extension('a', { rules }), extension('b', { rules: () => ['Be kind.'] })];
    const facts = { agent: { uri: 'file:///a.md' }, text: 'hello', files: ['src/a.ts'] };
    const sections = await rendered({ extensions, facts });
    expect(sections.get('custom_instructions')).toBe('Rules follow.\n\nUse tabs.\n\nNo semicolons.\n\nBe kind.');
    expect(seen).toEqual([facts]);
  });

  it('[UNI-029] get a section of their own in a prompt that has none for them', async () => {
    const extensions = [extension('a', { rules: () => ['Use tabs.'] })];
    const sections = await rendered({ backend: backendOf({ tone: 'Be brief.', safety: 'Be safe.' }), extensions });
    expect(promptText(sections)).toBe('Be brief.\n\nUse tabs.\n\nBe safe.');
  });

  it('of an extension that fails at them are missing, and nothing else is', async () => {
    const rules = () => {
      throw new Error('no');
    };
    const extensions = [extension('a', { rules }), extension('b', { rules: () => ['Be kind.'] })];
    expect((await rendered({ extensions })).get('custom_instructions')).toBe('Rules follow.\n\nBe kind.');
  });

  it('are left out when they make the section too large', async () => {
    const huge = 'x'.repeat(PROMPT_SECTION_MAX_CHARACTERS);
    const extensions = [extension('a', { rules: () => [huge, 'Use tabs.'] })];
    expect((await rendered({ extensions })).get('custom_instructions')).toBe('Rules follow.\n\nUse tabs.');
  });
});

describe('static texts of extensions', () => {
  it('[UNI-030] replace, then stand before, then after, in the order of the extensions', async () => {
    const extensions = [
      transforms('a', ['append', 'tone', 'A after'], ['prepend', 'tone', 'A before'], ['replace', 'tone', 'A']),
      transforms('b', ['append', 'tone', 'B after'], ['replace', 'tone', 'B'], ['prepend', 'tone', 'B before']),
    ];
    const { tone } = Object.fromEntries(await rendered({ extensions }));
    expect(tone).toBe('A before\n\nB before\n\nB\n\nA after\n\nB after');
  });

  it('[UNI-030] only add to a protected section, in a block beside it', async () => {
    const actions = ['replace', 'prepend', 'append'] as const;
    const extensions = ['identity', 'safety'].map((id) =>
      transforms(id, ...actions.map((action) => [action, id, `${action} ${id}`] as [typeof action, string, string])),
    );
    const text = promptText(await rendered({ extensions }));
    expect(text.startsWith('<additions to="identity">\nappend identity\n</additions>\n\nI am a mock.\n\n')).toBe(true);
    expect(text.endsWith('\n\n<additions to="safety">\nappend safety\n</additions>\n\nBe safe.')).toBe(true);
    expect(text).not.toMatch(/replace|prepend/);
  });

  it('for a section that the prompt does not have do nothing', async () => {
    const extensions = [transforms('a', ['append', 'nope', 'x'], ['replace', 'toString', 'x'])];
    expect(Object.fromEntries(await rendered({ extensions }))).toEqual(PRISTINE);
  });

  it('are left out when they make the section too large', async () => {
    const huge = 'x'.repeat(PROMPT_SECTION_MAX_CHARACTERS + 1);
    const extensions = [
      transforms('a', ['replace', 'tone', huge], ['append', 'tone', 'y'], ['append', 'safety', huge]),
    ];
    const sections = await rendered({ extensions });
    expect([sections.get('tone'), sections.get('safety')]).toEqual(['Be brief.\n\ny', 'Be safe.']);
  });
});

describe('the active client', () => {
  it('[UNI-032][UNI-109] sees what extensions added, and their callbacks never see what it changed', async () => {
    const [heard, sent]: [string[], unknown[]] = [[], []];
    const transform = async (text: string) => {
      heard.push(text);
      return `${text}!`;
    };
    const one = extension('one', {
      transforms: [{ section: 'tone', action: 'append', content: 'Added.' }],
      callbacks: [{ section: 'tone', transform }],
    });
    const rewrite = (texts: object) => {
      sent.push(texts);
      return { tone: 'Sing.' };
    };
    const client = { sections: ['tone', 'identity', 'safety', 'nope'], rewrite };
    for (let render = 0; render < 2; render++) {
      const sections = await rendered({ extensions: [one], client });
      expect(sections.get('tone')).toBe('Sing.');
    }
    expect(sent).toEqual([{ tone: 'Be brief.\n\nAdded.!' }, { tone: 'Be brief.\n\nAdded.!' }]);
    expect(heard).toEqual(['Be brief.\n\nAdded.', 'Be brief.\n\nAdded.']);
  });
});

describe('[UNI-038] what is written down', () => {
  it('who changed which section at which stage, with hashes, at debug level, and never a word of the text', async () => {
    const lines: { level: string; fields: LogFields | undefined }[] = [];
    const logger = { log: (level: string, _message: string, fields?: LogFields) => lines.push({ level, fields }) };
    const one = extension('one', {
      rules: () => ['Secret rule.'],
      transforms: [
        { section: 'tone', action: 'append', content: 'Secret tone.' },
        { section: 'safety', action: 'append', content: 'Secret aside.' },
      ],
      callbacks: [
        { section: 'tone', transform: async (text) => `${text} Secret callback.` },
        { section: 'last_instructions', transform: async () => undefined },
      ],
    });
    const client = { sections: ['tone'], rewrite: () => ({ tone: 'Secret client.' }) };
    await rendered({ extensions: [one], client, logger });
    expect(lines.map(({ fields }) => [fields?.stage, fields?.by, fields?.section])).toEqual([
      ['rules', 'one', 'custom_instructions'],
      ['static', 'one', 'tone'],
      ['static', 'one', 'safety'],
      ['callback', 'one', 'tone'],
      ['client', 'desk', 'tone'],
    ]);
    for (const { level, fields } of lines) {
      expect([level, fields?.session]).toEqual(['debug', 'ahp-session:/1']);
      expect([fields?.before, fields?.after].join()).toMatch(/^[0-9a-f]{16},[0-9a-f]{16}$/);
      expect(fields?.before).not.toBe(fields?.after);
    }
    expect(JSON.stringify(lines)).not.toMatch(/Secret|Be brief|Be safe/);
  });
});
