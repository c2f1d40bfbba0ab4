import { describe, expect, it } from 'vitest';
import {
  boundedInput,
  INPUT_MAX_CHARACTERS,
  parsedInput,
  readArguments,
  schemaProblem,
} from '../../src/tool-calls/arguments.js';

describe('the arguments of a call', () => {
  it('are JSON text or a value, and none at all is an object', () => {
    expect(readArguments('{"a":1}')).toEqual({ text: '{"a":1}', value: { a: 1 } });
    expect(readArguments({ a: 1 })).toEqual({ text: '{"a":1}', value: { a: 1 } });
    for (const nothing of ['', undefined]) expect(readArguments(nothing)).toEqual({ text: '{}', value: {} });
    expect([parsedInput('{'), parsedInput('7'), parsedInput(7)]).toEqual(['{', 7, 7]);
  });

  it.each(['[1]', '7', 'text', '{'])('%s are no object', (text) => {
    expect(readArguments(text)).toEqual({ text, problem: `The arguments must be a JSON object, but are ${text}.` });
  });

  it('[REL-098] have a greatest length, and are named by their beginning beyond it', () => {
    const most = 'x'.repeat(INPUT_MAX_CHARACTERS);
    expect(boundedInput(most)).toEqual({ text: most });
    const { text, problem } = boundedInput(`${most}x`);
    expect([text.length < 100, problem]).toEqual([
      true,
      expect.stringMatching(/^The arguments have .* are allowed\.$/),
    ]);
    expect(readArguments(`${most}x`)).toMatchObject({ problem });
  });

  it('fit the tool, or say where they do not', () => {
    const schema = { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] } as never;
    expect(readArguments('{"at":1}', schema)).toMatchObject({ value: { at: 1 } });
    expect(readArguments('{"at":"two"}', schema)).toMatchObject({
      problem: 'The arguments do not fit the tool: "at" must be an integer, but is "two".',
    });
  });
});

describe('a JSON Schema', () => {
  it.each<[unknown, unknown]>([
    [{ type: 'object' }, {}],
    [{ type: 'array' }, []],
    [{ type: 'string' }, ''],
    [{ type: 'number' }, 0.5],
    [{ type: 'integer' }, 1],
    [{ type: 'boolean' }, false],
    [{ type: 'null' }, null],
    [{ type: ['string', 'null'] }, null],
    [{ type: 'constructor' }, 7],
    [{ type: [7] }, 'x'],
    [{ enum: ['a', 'b'] }, 'b'],
    [{ enum: [{ a: 1 }] }, 'x'],
    [{ $ref: '#/x', type: 'string' }, 7],
    [true, 7],
    [{ required: 'a' }, {}],
    [{ required: [7] }, {}],
    [{ properties: 7 }, { a: 1 }],
    [{ properties: { a: { type: 'string' } } }, { b: 1 }],
    [{ properties: {} }, { toString: 1 }],
    [{ items: { type: 'string' } }, ['a']],
    [{ items: { type: 'string' }, properties: { 0: { type: 'number' } }, required: ['a'] }, ['a']],
  ])('%j takes %j', (schema, value) => {
    expect(schemaProblem(schema, value)).toBeUndefined();
  });

  it.each<[unknown, unknown, string]>([
    [{ type: 'object' }, [], 'the whole must be an object, but is []'],
    [{ type: 'array' }, {}, 'the whole must be an array, but is {}'],
    [{ type: 'string' }, 1, 'the whole must be a string, but is 1'],
    [{ type: 'number' }, '1', 'the whole must be a number, but is "1"'],
    [{ type: 'integer' }, 0.5, 'the whole must be an integer, but is 0.5'],
    [{ type: 'boolean' }, 0, 'the whole must be a boolean, but is 0'],
    [{ type: 'null' }, undefined, 'the whole must be null, but is missing'],
    [{ type: ['string', 'null'] }, 1, 'the whole must be a string or null, but is 1'],
    [{ type: ['string', 7] }, 1, 'the whole must be a string, but is 1'],
    [{ enum: ['a', 'b'] }, 'c', 'the whole must be one of ["a","b"], but is "c"'],
    [{ required: ['a', 'b'] }, { a: 1 }, 'the whole must have "b"'],
    [{ required: ['toString'] }, {}, 'the whole must have "toString"'],
    [{ items: { type: 'string' } }, ['a', 1], '"1" must be a string, but is 1'],
    [
      { properties: { a: { properties: { b: { type: 'string' } } }, c: { type: 'string' } } },
      { a: { b: 1 }, c: 1 },
      '"a.b" must be a string, but is 1',
    ],
  ])('%j refuses %j', (schema, value, problem) => {
    expect(schemaProblem(schema, value)).toBe(problem);
  });

  it('[REL-098] shows the beginning of a value that it refuses', () => {
    expect(schemaProblem({ type: 'number' }, 'x'.repeat(1_000))?.length).toBeLessThan(100);
  });
});
