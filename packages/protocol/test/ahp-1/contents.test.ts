/** What attached bytes are, whatever they are called. */
import { describe, expect, it } from 'vitest';
import {
  isPicture,
  PICTURE_MAX_BYTES,
  PICTURE_MAX_EDGE,
  PICTURE_SIZE,
  pictureOf,
  pictureSize,
  typeOfBeginning,
  unfitPicture,
} from '../../src/ahp-1/index.js';

const latin = (text: string, ...more: number[]) => Uint8Array.from([...Buffer.from(text, 'latin1'), ...more]);

function png(width: number, height: number): Uint8Array {
  const bytes = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\0\0', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

function webp(kind: string, rest: readonly number[]): Uint8Array {
  return latin(`RIFF\0\0\0\0WEBP${kind}`, ...rest);
}

describe('a picture [DAY-011]', () => {
  it.each([
    ['PNG', png(640, 480), { contentType: 'image/png', width: 640, height: 480 }],
    ['GIF', latin('GIF89a', 10, 0, 0, 1, 0, 0), { contentType: 'image/gif', width: 10, height: 256 }],
    [
      'JPEG, behind other segments',
      latin('\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc4\0\x02\xff\xc2\0\x0b\x08', 0, 7, 0, 9, 1, 0, 0, 0, 0),
      { contentType: 'image/jpeg', width: 9, height: 7 },
    ],
    [
      'WebP with a header',
      webp('VP8X', [...Array(8).fill(0), 0xff, 0x03, 0, 0x01, 0, 1]),
      { contentType: 'image/webp', width: 1_024, height: 65_538 },
    ],
    [
      'WebP with losses',
      webp('VP8 ', [...Array(10).fill(0), 0x40, 0x41, 0x20, 0]),
      { contentType: 'image/webp', width: 0x140, height: 0x20 },
    ],
    [
      'WebP without losses',
      webp('VP8L', [0, 0, 0, 0, 0x2f, 0x63, 0x40, 0x0c, 0, ...Array(6).fill(0)]),
      { contentType: 'image/webp', width: 100, height: 50 },
    ],
  ])('is found with its size: %s', (_name, bytes, picture) => expect(pictureOf(bytes)).toEqual(picture));

  it.each([
    ['text that is called one', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')],
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['a PNG without its header', latin('\x89PNG\r\n\x1a\n', ...Array(40).fill(7))],
    ['a PNG that is cut off', png(1, 1).subarray(0, 20)],
    ['a PNG without pixels', png(0, 5)],
    ['a JPEG that never says its size', latin('\xff\xd8\xff\xe0', 0, 2, ...Array(60).fill(0xff))],
    ['a JPEG whose segments have no length', latin('\xff\xd8\xff\xe0', ...Array(5_000).fill(0))],
    ['a GIF that is cut off', latin('GIF89a', 1)],
    ['a WebP of another kind', webp('ALPH', Array(20).fill(1))],
    ['HEIC', latin('\0\0\0\x18ftypheic', ...Array(20).fill(0))],
    ['nothing', new Uint8Array()],
  ])('is nothing else: %s', (_name, bytes) => expect(pictureOf(bytes)).toBeUndefined());

  it('is looked for in its own bytes, also where they are a part of others', () => {
    const all = Buffer.concat([Buffer.from('before'), png(3, 4), Buffer.from('after')]);
    expect(pictureOf(all.subarray(6, 30))).toMatchObject({ width: 3, height: 4 });
  });

  it('is too large for models beyond a side and a size', () => {
    const edge = PICTURE_MAX_EDGE;
    expect(unfitPicture(PICTURE_MAX_BYTES, { width: edge, height: edge })).toBeUndefined();
    expect(unfitPicture(1, { width: edge + 1, height: 1 })).toContain(`${edge + 1} × 1 pixels`);
    expect(unfitPicture(PICTURE_MAX_BYTES + 1, { width: 1, height: 1 })).toContain('models take 3.75 MB');
  });
});

describe('other contents', () => {
  it('are known by how they begin', () => {
    expect(typeOfBeginning(latin('%PDF-1.7'))).toBe('application/pdf');
    expect(typeOfBeginning(latin('\0\0\0\x1cftypavif'))).toBe('image/avif');
    expect(typeOfBeginning(latin('\0\0\0\x1cftypmif1'))).toBe('image/heic');
    expect(typeOfBeginning(latin('hello'))).toBeUndefined();
  });

  it('an attachment says whether it is a picture, and how large', () => {
    expect(isPicture({ type: 'resource', contentType: 'image/webp' })).toBe(true);
    expect(isPicture({ type: 'resource', contentType: 'image/svg+xml' })).toBe(false);
    expect(isPicture({ type: 'resource', contentType: 'toString' })).toBe(false);
    expect(isPicture({ type: 'simple' })).toBe(false);
    expect(pictureSize({ _meta: { [PICTURE_SIZE]: { width: 1, height: 2 } } })).toEqual({ width: 1, height: 2 });
    expect(pictureSize({ _meta: { [PICTURE_SIZE]: { width: '1', height: 2 } } })).toBeUndefined();
    expect(pictureSize({})).toBeUndefined();
  });
});
