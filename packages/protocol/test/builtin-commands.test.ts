import { describe, expect, it } from 'vitest';
import type { Message } from '../src/ahp-1/index.js';
import {
  BUILTIN_COMMANDS,
  BUILTIN_NAMES,
  builtinIn,
  completeCommand,
  fileArgument,
  usageOf,
} from '../src/ahp-1/session/builtin-commands.js';
import { MODELS_SHOWN_MAX, readModelWords } from '../src/ahp-1/session/model-words.js';
import { isLiteral, literal, NEAR_NAMES_MAX, readSlash } from '../src/ahp-1/session/slash-commands.js';

const properties = {
  reasoningEffort: { type: 'string' as const, title: 'Reasoning effort', enum: ['low', 'high'] },
  temperature: { type: 'number' as const, title: 'Temperature' },
};
const models = [
  { id: 'thinker', provider: 'p', name: 'Thinker', configSchema: { type: 'object' as const, properties } },
  { id: 'talker', provider: 'p', name: 'talker' },
];
const complete = (text: string) => completeCommand(text, text.length, { models, model: 'thinker' });
const labels = (text: string) => complete(text).map(({ label }) => label);

describe('the table of commands [DAY-080]', () => {
  it('says of each what it does, under names that no other has', () => {
    expect(new Set(BUILTIN_NAMES).size).toBe(BUILTIN_NAMES.length);
    for (const command of BUILTIN_COMMANDS) {
      expect(command.name).toMatch(/^[a-z]+$/);
      expect(command.text.length, command.name).toBeGreaterThan(5);
    }
    const wanted = ['compact', 'model', 'fork', 'rename', 'archive', 'export', 'undo', 'cost', 'help'];
    expect(BUILTIN_NAMES).toEqual(expect.arrayContaining(wanted));
  });

  it('finds a command in a line, also under its other name, and nothing in another text', () => {
    expect(builtinIn('/rename My session')).toEqual({ name: 'rename', rest: 'My session' });
    expect(builtinIn(' /title  x\ny ')).toEqual({ name: 'rename', rest: 'x\ny' });
    for (const text of ['/nope', 'hello', '/', '//help', '/toString', '/help-me'])
      expect(builtinIn(text), text).toBeUndefined();
  });

  it('completes names in order, with their usage, only at the beginning', () => {
    expect(labels('/s')).toEqual([
      ...['/sessions', '/search <words>', '/stage [file]', '/share [12h] [without …]', '/settings'],
    ]);
    expect(complete('/se')[1]).toMatchObject({ text: '/search ', cursor: 8, about: 'find words in all sessions' });
    // A whole name is the first, whatever longer one stands above it in the table.
    expect(labels('/mode')).toEqual(['/mode [which]', '/model [id] [option=value]']);
    expect(labels('see /s')).toEqual([]);
    expect(usageOf({ name: 'help' })).toBe('/help');
  });

  it('completes arguments: words, models with their options, and where a file is meant', () => {
    expect(labels('/auto ')).toEqual(['on', 'off']);
    expect(complete('/auto of')).toEqual([{ label: 'off', about: '', text: '/auto off ', cursor: 10 }]);
    expect(labels('/auto on ')).toEqual([]);
    expect(labels('/model t')).toEqual([
      'thinker',
      'talker',
      'reasoningEffort=low',
      'reasoningEffort=high',
      'temperature=',
    ]);
    expect(labels('/model talker ')).toEqual([]);
    expect(labels('/model thinker reasoningEffort=low ')).toEqual(['temperature=']);
    expect(complete('/model thinker temp')[0]).toMatchObject({ text: '/model thinker temperature=', cursor: 27 });
    expect(fileArgument('/diff src/pa', 12)).toEqual({ word: 'src/pa', start: 6 });
    expect(fileArgument('/auto src', 9)).toBeUndefined();
    expect(fileArgument('/diff a b', 9)).toBeUndefined();
  });
});

describe('what stands behind /model [DAY-083]', () => {
  const read = (words: string, current?: { id: string; config?: Record<string, string | number> }) =>
    readModelWords(words, models, current);

  it('is a model, options of it, or both; another model begins without options', () => {
    const high = { id: 'thinker', config: { reasoningEffort: 'high' } };
    expect(read('thinker effort=high')).toMatchObject({ kind: 'chosen', model: high });
    expect(read('temperature=0.5', high)).toMatchObject({
      model: { id: 'thinker', config: { reasoningEffort: 'high', temperature: 0.5 } },
    });
    expect(read('effort=', high)).toMatchObject({ model: { id: 'thinker' } });
    expect(read('effort=', high)).not.toHaveProperty('model.config');
    expect(read('talker', high)).toEqual({
      kind: 'chosen',
      model: { id: 'talker' },
      text: 'From the next message on: talker.',
    });
  });

  it('is refused with what there is, where a model, an option or a value is not there', () => {
    expect(read('huge').text).toMatch(
      /has no model huge[\s\S]*thinker {2}reasoningEffort=low\|high {2}temperature=<number>/,
    );
    expect(read('talker effort=high').text).toBe('talker has no option effort. It has no options.');
    expect(read('thinker effort=max').text).toMatch(
      /^reasoningEffort cannot be max\. Its options: reasoningEffort=low\|high/,
    );
    expect(read('thinker temperature=warm')).toMatchObject({ kind: 'told' });
    expect(read('thinker talker')).toMatchObject({ kind: 'told' });
    expect(readModelWords('huge', [], undefined).text).toContain('does not say which models it has');
  });

  it('alone shows the first models and how many more there are', () => {
    const many = Array.from({ length: MODELS_SHOWN_MAX + 1 }, (_, index) => ({
      id: `m-${index}`,
      provider: 'p',
      name: 'M',
    }));
    expect(readModelWords('', many, { id: 'm-3' }).text).toMatch(/^The model is m-3\.[\s\S]*m-29\n {2}and 1 more$/);
  });
});

describe('a slip [DAY-080]', () => {
  it('names the nearest commands, at most so many', () => {
    const own = ['abca', 'abcb', 'abcd', 'abce', 'xyz'];
    const verdict = readSlash('/abcz', {}, own);
    expect(verdict).toMatchObject({ kind: 'unknown', near: own.slice(0, NEAR_NAMES_MAX) });
    expect(verdict).toHaveProperty('advice', expect.stringContaining('Did you mean /abca or /abcb or /abcd?'));
  });

  it('behind two slashes is a text, and says so to the host', () => {
    const message: Message = { text: '/compact', origin: { kind: 'user' } };
    expect(isLiteral(message)).toBe(false);
    expect(isLiteral(literal(message))).toBe(true);
  });
});
