/** Contents that the host keeps, in ranges and encodings. */
import { ErrorCode, type ResourceReadParams, ROOT_CHANNEL } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { type ContentReader, READ_MAX_BYTES, readContent } from '../../src/workspace/files/read.js';

const reader = (bytes: Uint8Array | undefined, contentType?: string): ContentReader => ({
  scheme: 'x:',
  read: async () => bytes && { bytes, ...(contentType !== undefined && { contentType }) },
});
const read = (bytes: Uint8Array | undefined, params: object = {}, contentType?: string) =>
  readContent(reader(bytes, contentType), { channel: ROOT_CHANNEL, uri: 'x:/1', ...params } as ResourceReadParams);
const text = Buffer.from('0123456789');

describe('a kept content', () => {
  it('[AHP-069] is text, or base64 when it is none or that is preferred', async () => {
    expect(await read(text, {}, 'text/plain')).toEqual({
      ...{ data: '0123456789', encoding: 'utf-8', contentType: 'text/plain' },
    });
    expect(await read(text, { encoding: 'base64' })).toEqual({ data: text.toString('base64'), encoding: 'base64' });
    expect(await read(Buffer.from([0, 255]))).toEqual({ data: 'AP8=', encoding: 'base64' });
  });

  it.each([
    [{ start: 2, end: 5 }, '234'],
    [{ start: 0, end: 0 }, ''],
    [{ start: 8, end: 100 }, '89'],
    [{ start: 100, end: 200 }, ''],
  ])('[REL-042] is read in ranges: %j', async (range, data) => {
    // The bytes are a part of a larger buffer, as those that a file system hands out.
    const whole = Buffer.concat([Buffer.from('xx'), text, Buffer.from('yy')]).subarray(2, 12);
    expect(await read(whole, { range })).toEqual({ data, encoding: 'utf-8', size: 10 });
  });

  it.each([null, {}, 'text', { start: 0 }, { start: -1, end: 3 }, { start: 3, end: 2 }, { start: 0.5, end: 3 }])(
    '[REL-042] has no range %j',
    async (range) => {
      await expect(read(text, { range })).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
    },
  );

  it('[REL-042] may be larger than one answer, which then names the limit', async () => {
    const large = Buffer.alloc(READ_MAX_BYTES + 1);
    await expect(read(large)).rejects.toMatchObject({
      code: ErrorCode.InvalidParams,
      message: expect.stringMatching(/4\D+: read it in ranges/),
    });
    const range = { start: 1, end: READ_MAX_BYTES + 1 };
    expect((await read(large, { range })).encoding).toBe('base64');
    expect((await read(large.subarray(1))).encoding).toBe('base64');
  });

  it('that would not fit as escaped text is base64', async () => {
    const escaped = Buffer.alloc(2 * 2 ** 20, 1);
    expect((await read(escaped)).encoding).toBe('base64');
    expect((await read(Buffer.alloc(2 * 2 ** 20, 'a'))).encoding).toBe('utf-8');
  });

  it('that is gone is not found', async () => {
    await expect(read(undefined)).rejects.toMatchObject({ code: ErrorCode.NotFound });
  });
});
