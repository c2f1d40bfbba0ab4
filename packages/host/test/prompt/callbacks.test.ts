import type { SectionCallback } from '@atrium/core/contracts/extension.js';
import { CallbackMemory } from '@atrium/core/prompt/contributions.js';
import { CALLBACK_TIMEOUT_MS, CALLBACKS_TIMEOUT_MS } from '@atrium/core/prompt/limits.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { extension, PRISTINE, rendered, transforms } from '../support/prompts.js';
import { settle } from '../support/test-host.js';

/** Extensions `a`, `b`, … with one callback each. */
function withCallbacks(...callbacks: SectionCallback[]) {
  return callbacks.map((callback, index) => extension(String.fromCharCode(97 + index), { callbacks: [callback] }));
}

const adds = (section: string, word: string): SectionCallback => ({
  section,
  transform: async (text) => `${text} ${word}`,
});
const silent = (section: string): SectionCallback => ({ section, transform: () => new Promise(() => {}) });

describe('[UNI-031] callbacks of extensions', () => {
  it('are chained in the order of the extensions; those of a protected section are not asked', async () => {
    let asked = 0;
    const peek = { section: 'safety', transform: async () => `${++asked}` };
    const extensions = withCallbacks(adds('tone', 'one'), adds('tone', 'two'), peek, adds('nope', 'x'));
    const sections = await rendered({ extensions });
    expect(sections.get('tone')).toBe('Be brief. one two');
    expect([sections.get('safety'), asked]).toEqual([PRISTINE.safety, 0]);
  });

  it('whose turn is over meanwhile are the last to be asked: the client hears nothing of it', async () => {
    const cancelling = new AbortController();
    const cancels: SectionCallback = {
      section: 'tone',
      transform: async (text) => {
        cancelling.abort();
        return text;
      },
    };
    let asked = 0;
    const client = {
      sections: ['tone'],
      rewrite: () => {
        asked++;
        return {};
      },
    };
    await rendered({ extensions: withCallbacks(cancels), client, signal: cancelling.signal });
    expect(asked).toBe(0);
  });

  it('work on several sections at the same time', async () => {
    const began: string[] = [];
    let release = (): void => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const meets = (section: string): SectionCallback => ({
      section,
      transform: async (text) => {
        if (began.push(section) === 2) release();
        await both;
        return `${text} met`;
      },
    });
    const sections = await rendered({ extensions: withCallbacks(meets('tone'), meets('last_instructions')) });
    expect([sections.get('tone'), sections.get('last_instructions')]).toEqual(['Be brief. met', 'Say goodbye. met']);
  });

  it('that answer nothing, nonsense or with a failure leave the text to the next', async () => {
    const extensions = withCallbacks(
      { section: 'tone', transform: async () => undefined },
      { section: 'tone', transform: async () => 5 as never },
      { section: 'tone', transform: () => Promise.reject(new Error('no')) },
      {
        section: 'tone',
        transform: () => {
          throw new Error('no');
        },
      },
      adds('tone', 'last'),
    );
    expect((await rendered({ extensions })).get('tone')).toBe('Be brief. last');
  });

  it(`that take longer than ${CALLBACK_TIMEOUT_MS} ms are told to stop, and leave the text to the next`, async () => {
    const clock = new FakeClock();
    let stopped = false;
    const late: SectionCallback = {
      section: 'tone',
      transform: (_text, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            stopped = true;
            resolve('Too late.');
          });
        }),
    };
    const render = rendered({ clock, extensions: withCallbacks(late, adds('tone', 'next')) });
    await settle();
    await clock.advance(CALLBACK_TIMEOUT_MS - 1);
    expect(stopped).toBe(false);
    await clock.advance(1);
    expect((await render).get('tone')).toBe('Be brief. next');
    expect([stopped, clock.pending]).toEqual([true, 0]);
  });

  it(`have ${CALLBACKS_TIMEOUT_MS} ms together; whoever comes after that is not asked`, async () => {
    const clock = new FakeClock();
    const extensions = withCallbacks(silent('tone'), silent('tone'), adds('tone', 'third'), adds('identity', 'x'));
    const render = rendered({ clock, extensions });
    await settle();
    await clock.advance(CALLBACKS_TIMEOUT_MS);
    expect((await render).get('tone')).toBe('Be brief.');
    expect(clock.pending).toBe(0);
  });

  it('are not waited for when the turn is over', async () => {
    const turn = new AbortController();
    const render = rendered({ signal: turn.signal, extensions: withCallbacks(silent('tone')) });
    await settle();
    turn.abort();
    expect((await render).get('tone')).toBe('Be brief.');
  });

  it('are asked once per turn, whatever they answered, and again by the next turn', async () => {
    const asked: string[] = [];
    const counts = (section: string, answer: string | undefined): SectionCallback => ({
      section,
      transform: async (text) => {
        asked.push(text);
        return answer;
      },
    });
    const extensions = withCallbacks(counts('tone', 'Sing.'), counts('tone', undefined));
    const memory = new CallbackMemory();
    const [first, second] = await Promise.all([rendered({ memory, extensions }), rendered({ memory, extensions })]);
    const third = await rendered({ memory, extensions });
    expect([first, second, third].map((sections) => sections.get('tone'))).toEqual(['Sing.', 'Sing.', 'Sing.']);
    expect(asked).toEqual(['Be brief.', 'Sing.']);
    await rendered({ extensions });
    expect(asked).toHaveLength(4);
  });

  it('are asked again in the same turn about a text that has changed, so that nothing new is lost', async () => {
    const memory = new CallbackMemory();
    const callback = withCallbacks(adds('tone', 'seen'));
    expect((await rendered({ memory, extensions: callback })).get('tone')).toBe('Be brief. seen');
    const extensions = [...callback, transforms('late', ['append', 'tone', 'New.'])];
    expect((await rendered({ memory, extensions })).get('tone')).toBe('Be brief.\n\nNew. seen');
  });
});
