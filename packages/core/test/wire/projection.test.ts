import type { StateAction } from '@atrium/protocol/ahp-1';
import { expect, it } from 'vitest';
import { Projection } from '../../src/wire/projection.js';

it('[DEV-031] a folder that is left out does not come in pieces of an input: where a path is cut, it is not found', () => {
  const session = 'ahp-session:/s';
  const share = (leftOut: readonly 'folders'[]) =>
    new Projection(
      {
        role: 'viewer',
        bounds: { sessions: [session] },
        leftOut,
        credential: { kind: 'share', id: 'x' },
      },
      { foldersOf: () => ['/home/ada/secret'], seesTerminal: () => false },
    );
  const pieces = ['{"path":"/home/a', 'da/secret/x.ts"}'].map(
    (content): StateAction => ({ type: 'chat/toolCallDelta', turnId: 't', toolCallId: 'c', content }),
  );
  const sent = (leftOut: readonly 'folders'[]) =>
    pieces.map((piece) => share(leftOut).action('ahp-chat:/s', piece) as { content: string } | undefined);
  expect(sent([]).map((piece) => piece?.content)).toEqual(['{"path":"/home/a', 'da/secret/x.ts"}']);
  expect(sent(['folders']).map((piece) => piece?.content)).toEqual(['', '']);
});
