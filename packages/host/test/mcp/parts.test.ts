import { getEventListeners } from 'node:events';
import { EventGauge, LineSplitter, LineTooLongError } from '@atrium/core/util/streams.js';
import { describe, expect, it } from 'vitest';
import { Tokens } from '../../src/plugins/mcp/authorization.js';
import {
  MCP_RESULT_DATA_MAX_CHARACTERS,
  MCP_RESULT_MAX_BLOCKS,
  MCP_RESULT_TEXT_MAX_CHARACTERS,
  MCP_RETRIES_SHOWN,
  MCP_RETRY_MAX_MS,
} from '../../src/plugins/mcp/limits.js';
import { retryDelayMs } from '../../src/plugins/mcp/mcp-server.js';
import { outputOf } from '../../src/plugins/mcp/mcp-tool.js';
import { modelToolName, toolSchemaOf } from '../../src/plugins/mcp/tool-list.js';

describe('names for models', () => {
  it('[CUS-084] are plain where they can be', () => {
    expect(modelToolName({ name: 'git-hub' }, 'list_issues')).toBe('mcp__git-hub__list_issues');
    expect(modelToolName({ name: 'db', plugin: 'shop' }, 'query')).toBe('mcp__plugin_shop_db__query');
  });

  it('[CUS-084] fit exactly, or end in a hash of the whole', () => {
    const fitting = 'x'.repeat(64 - 'mcp__s__'.length);
    expect(modelToolName({ name: 's' }, fitting)).toBe(`mcp__s__${fitting}`);
    const one = modelToolName({ name: 's' }, `${fitting}1`);
    const two = modelToolName({ name: 's' }, `${fitting}2`);
    expect(one).toMatch(/^mcp__s__x{47}_[0-9a-f]{8}$/);
    expect(one).not.toBe(two);
    expect(modelToolName({ name: 's' }, `${fitting}1`)).toBe(one);
  });

  it('[CUS-084] are not the same by accident', () => {
    const names = [
      modelToolName({ name: 'a' }, 'b__c'),
      modelToolName({ name: 'a__b' }, 'c'),
      modelToolName({ name: 'a_' }, 'b'),
      modelToolName({ name: 'a' }, '_b'),
      modelToolName({ name: 'a' }, 'b.c'),
      modelToolName({ name: 'a' }, 'b c'),
      modelToolName({ name: 'a' }, 'b_c'),
    ];
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('schemas', () => {
  it('are passed on as they are, with short forms written out', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], $defs: { x: {} } };
    expect(toolSchemaOf(schema)).toEqual(schema);
    const short = { type: 'object', properties: { any: true, none: false } };
    expect(toolSchemaOf(short)?.properties).toEqual({ any: {}, none: { not: {} } });
  });

  it('are none when the protocol could not carry them', () => {
    const bad = [null, [], {}, { type: 'array' }, { type: 'object', properties: [] }];
    const worse = [
      { type: 'object', properties: { a: 1 } },
      { type: 'object', required: [1] },
    ];
    for (const schema of [...bad, ...worse]) expect(toolSchemaOf(schema)).toBeUndefined();
  });
});

describe('retries', () => {
  it('[CUS-078] [REL-071] wait 1, 2, 4 … seconds, and never more than 5', () => {
    const delays = Array.from({ length: MCP_RETRIES_SHOWN }, (_, retries) => retryDelayMs(retries) / 1_000);
    expect(delays).toEqual([1, 2, 4, 5, 5]);
    expect(retryDelayMs(10_000)).toBe(MCP_RETRY_MAX_MS);
  });
});

describe('waiting for a token', () => {
  it('listens to nobody any more once it came', async () => {
    const [tokens, { signal }] = [new Tokens(), new AbortController()];
    const arrived = tokens.arrival(signal);
    expect(getEventListeners(signal, 'abort').length).toBe(1);
    tokens.set('t-1');
    await arrived;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends when nobody waits any more', async () => {
    const [tokens, controller] = [new Tokens(), new AbortController()];
    const arrived = tokens.arrival(controller.signal);
    controller.abort();
    await arrived;
    expect(tokens.current).toBeUndefined();
  });
});

describe('lines', () => {
  it('are the same however the bytes arrive', () => {
    const bytes = Buffer.from('one\n\ntwo ☕\nrest');
    for (const size of [1, 2, 3, 7, 100]) {
      const splitter = new LineSplitter(100);
      const lines: string[] = [];
      for (let at = 0; at < bytes.length; at += size) lines.push(...splitter.push(bytes.subarray(at, at + size)));
      expect(lines).toEqual(['one', 'two ☕']);
    }
  });

  it('are as long as allowed, and not a byte longer', () => {
    expect([...new LineSplitter(3).push(Buffer.from('abc\n'))]).toEqual(['abc']);
    expect(() => [...new LineSplitter(3).push(Buffer.from('abcd'))]).toThrow(LineTooLongError);
    const splitter = new LineSplitter(3);
    expect([...splitter.push(Buffer.from('ab'))]).toEqual([]);
    expect(() => [...splitter.push(Buffer.from('cd\n'))]).toThrow(LineTooLongError);
  });
});

describe('events of a stream', () => {
  it('are measured from one empty line to the next, with any kind of line end', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const gauge = new EventGauge();
      const event = `data: ${'x'.repeat(20)}${end}${end}`;
      const sizes = Array.from({ length: 50 }, () => gauge.push(Buffer.from(event)));
      expect(Math.max(...sizes)).toBeLessThanOrEqual(event.length + 1);
      expect(gauge.push(Buffer.from(`data: x${end}data: y${end}`.repeat(10)))).toBeGreaterThan(100);
    }
  });
});

describe('results', () => {
  it('[UNI-026] have text for the model when there are only values, and wrap what is no object', () => {
    expect(outputOf({ structuredContent: { a: 1 } }, 'It')).toMatchObject({
      content: [{ type: 'text', text: '{"a":1}' }],
      structuredContent: { a: 1 },
    });
    expect(outputOf({ content: [], structuredContent: [1, 2] }, 'It').structuredContent).toEqual({ value: [1, 2] });
  });

  it('[UNI-026] never pass on a bare path as an address', () => {
    const { content } = outputOf({ content: [{ type: 'resource_link', uri: '/etc/hosts', name: 'hosts' }] }, 'It');
    expect(content).toEqual([{ type: 'text', text: '[hosts: /etc/hosts]' }]);
  });

  it('survive any nonsense', () => {
    const nonsense = [
      null,
      7,
      'x',
      { type: 'text' },
      { type: 'image', data: 1 },
      { type: 'resource' },
      { type: 'odd' },
    ];
    expect(outputOf({ content: nonsense }, 'It').content).toEqual([
      { type: 'text', text: expect.stringContaining('resource') },
      { type: 'text', text: expect.stringContaining('odd') },
    ]);
    expect(outputOf({ content: 'text', isError: true }, 'It')).toEqual({
      ...{ success: false, pastTenseMessage: 'It failed', content: [] },
      error: { code: 'TOOL_ERROR', message: 'The tool failed and did not say why.' },
    });
  });

  it('are bounded in text, bytes and blocks', () => {
    const text = 'x'.repeat(MCP_RESULT_TEXT_MAX_CHARACTERS);
    expect(outputOf({ content: [{ type: 'text', text }] }, 'It').content).toEqual([{ type: 'text', text }]);
    const cut = outputOf(
      {
        content: [
          { type: 'text', text },
          { type: 'text', text: 'more' },
        ],
      },
      'It',
    ).content;
    expect(cut[1]).toEqual({ type: 'text', text: '\n[Cut: too long.]' });
    const data = 'A'.repeat(MCP_RESULT_DATA_MAX_CHARACTERS);
    const images = [data, 'AAAA'].map((bytes) => ({ type: 'image', data: bytes, mimeType: 'image/png' }));
    expect(outputOf({ content: images }, 'It').content.map(({ type }) => type)).toEqual(['embeddedResource', 'text']);
    const many = Array.from({ length: MCP_RESULT_MAX_BLOCKS + 1 }, () => ({ type: 'text', text: 'x' }));
    expect(outputOf({ content: many }, 'It').content).toHaveLength(MCP_RESULT_MAX_BLOCKS);
    expect(outputOf({ structuredContent: { text } }, 'It').structuredContent).toBeUndefined();
  });
});
