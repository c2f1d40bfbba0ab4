import { type Annotation, type AnnotationsState, annotationsChannel, type Message } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import {
  Annotations,
  annotationsRefusal,
  annotationsSummary,
  sessionOfAnnotations,
  withAnnotationTexts,
} from '../../src/sessions/annotations.js';
import {
  ANNOTATION_ENTRIES_MAX,
  ANNOTATION_ENTRY_MAX_CHARACTERS,
  ANNOTATION_ID_MAX_CHARACTERS,
  ANNOTATION_MAX_CHARACTERS,
  ANNOTATIONS_MAX,
  ANNOTATIONS_MAX_CHARACTERS,
  ANNOTATIONS_TEXT_MAX_CHARACTERS,
} from '../../src/sessions/limits.js';

const S = 'ahp-session:/s';
const CHAT = 'ahp-chat:/c';
const note = (id: string, text: unknown = 'n') => ({ id, text });
const annotation = (id: string, more: object = {}) =>
  ({ id, resource: 'file:///a', origin: { session: S }, entries: [note('1')], ...more }) as unknown as Annotation;
const notes = (count: number) => Array.from({ length: count }, (_, index) => note(`${index}`));

describe('a change of annotations', () => {
  const refusal = (action: object, annotations: readonly Annotation[]) =>
    annotationsRefusal(action as never, {
      state: { annotations } as AnnotationsState,
      session: S,
      isChat: (uri) => uri === CHAT,
    });
  const set = (it: Annotation) => ({ type: 'annotations/set', annotation: it });
  const id = (length: number) => 'i'.repeat(length);
  /** As JSON, an annotation with so many characters beside its notes. */
  const sized = (length: number) => {
    const empty = JSON.stringify([{ session: S }, { resource: '' }]).length;
    return annotation('a', { resource: 'x'.repeat(length - empty) });
  };
  const entrySized = (length: number) => note('1', 'x'.repeat(length - JSON.stringify(note('1', '')).length));

  it.each<[string, object, readonly Annotation[], string | undefined]>([
    ['a new one', set(annotation('a')), [], undefined],
    ['no action of theirs', { type: 'session/titleChanged' }, [], 'is not an action of annotations'],
    ['an id that is empty', set(annotation('')), [], 'needs an id'],
    ['a long id', set(annotation(id(ANNOTATION_ID_MAX_CHARACTERS))), [], undefined],
    ['an id that is too long', set(annotation(id(ANNOTATION_ID_MAX_CHARACTERS + 1))), [], 'needs an id'],
    ['another session', set(annotation('a', { origin: { session: 'other' } })), [], 'must be this session'],
    ['a chat of it', set(annotation('a', { origin: { session: S, chat: CHAT } })), [], undefined],
    ['another chat', set(annotation('a', { origin: { session: S, chat: 'x' } })), [], 'is not a chat of this session'],
    ['no note', set(annotation('a', { entries: [] })), [], 'at least one note'],
    ['many notes', set(annotation('a', { entries: notes(ANNOTATION_ENTRIES_MAX) })), [], undefined],
    ['too many notes', set(annotation('a', { entries: notes(ANNOTATION_ENTRIES_MAX + 1) })), [], 'may have'],
    ['a note twice', set(annotation('a', { entries: [note('1'), note('1')] })), [], 'different ids'],
    ['a large one', set(sized(ANNOTATION_MAX_CHARACTERS)), [], undefined],
    ['one that is too large', set(sized(ANNOTATION_MAX_CHARACTERS + 1)), [], 'without its notes'],
    ['a large note', set(annotation('a', { entries: [entrySized(ANNOTATION_ENTRY_MAX_CHARACTERS)] })), [], undefined],
    [
      'a second note that is too large',
      set(annotation('a', { entries: [note('0'), entrySized(ANNOTATION_ENTRY_MAX_CHARACTERS + 1)] })),
      [],
      'a note may have',
    ],
    ['a note without an id', set(annotation('a', { entries: [note('')] })), [], 'a note needs an id'],
    ['a change', { type: 'annotations/updated', annotationId: 'a', resolved: true }, [annotation('a')], undefined],
    ['a change of none', { type: 'annotations/updated', annotationId: 'b' }, [annotation('a')], 'no annotation b'],
    [
      'a change that does not fit',
      { type: 'annotations/updated', annotationId: 'a', origin: { session: 'x' } },
      [annotation('a')],
      'must be this session',
    ],
    [
      'a change of a large one',
      { type: 'annotations/updated', annotationId: 'a', turnId: 't' },
      [sized(ANNOTATION_MAX_CHARACTERS)],
      undefined,
    ],
    ['a removal', { type: 'annotations/removed', annotationId: 'a' }, [annotation('a')], undefined],
    ['a removal of none', { type: 'annotations/removed', annotationId: 'b' }, [annotation('a')], 'no annotation b'],
    [
      'a note in place of another',
      { type: 'annotations/entrySet', annotationId: 'a', entry: note('0') },
      [annotation('a', { entries: notes(ANNOTATION_ENTRIES_MAX) })],
      undefined,
    ],
    [
      'one note more than may be',
      { type: 'annotations/entrySet', annotationId: 'a', entry: note('x') },
      [annotation('a', { entries: notes(ANNOTATION_ENTRIES_MAX) })],
      'may have',
    ],
    ['a note on none', { type: 'annotations/entrySet', annotationId: 'b', entry: note('1') }, [], 'no annotation b'],
    [
      'the removal of a note',
      { type: 'annotations/entryRemoved', annotationId: 'a', entryId: '0' },
      [annotation('a', { entries: notes(2) })],
      undefined,
    ],
    [
      'the removal of a note that is not there',
      { type: 'annotations/entryRemoved', annotationId: 'a', entryId: '9' },
      [annotation('a', { entries: notes(2) })],
      'has no note 9',
    ],
    [
      'the removal of the only note',
      { type: 'annotations/entryRemoved', annotationId: 'a', entryId: '1' },
      [annotation('a')],
      'the only note',
    ],
    [
      'the removal of a note on none',
      { type: 'annotations/entryRemoved', annotationId: 'b', entryId: '1' },
      [],
      'no annotation b',
    ],
  ])('[UP-145] [REL-098] by %s', (_, action, state, expected) => {
    const reason = refusal(action, state);
    if (expected === undefined) expect(reason).toBeUndefined();
    else expect(reason).toContain(expected);
  });

  it('[REL-098] counts all of them', () => {
    const most = Array.from({ length: ANNOTATIONS_MAX }, (_, index) => annotation(`${index}`));
    expect(refusal(set(annotation('new')), most.slice(1))).toBeUndefined();
    expect(refusal(set(annotation('new')), most)).toContain(`may have at most ${ANNOTATIONS_MAX} annotations`);
    expect(refusal(set(annotation('0', { resolved: true })), most)).toBeUndefined();
    const full = (left: number) => {
      const large = annotation('large');
      const length = ANNOTATIONS_MAX_CHARACTERS - JSON.stringify({ annotations: [large] }).length - left;
      return [{ ...large, resource: large.resource + 'x'.repeat(length) }];
    };
    const [added, entry] = [annotation('a'), note('x')];
    const grown = { type: 'annotations/entrySet', annotationId: 'large', entry };
    expect(refusal(set(added), full(JSON.stringify(added).length))).toBeUndefined();
    expect(refusal(set(added), full(JSON.stringify(added).length - 1))).toContain('too large');
    expect(refusal(grown, full(0))).toMatch(/as JSON|too large/);
  });
});

describe('the annotations of a session', () => {
  it('[UP-166] have a channel that says which session it is, whatever that is called', () => {
    expect(sessionOfAnnotations(annotationsChannel(S))).toBe(S);
    const odd = 'ahp-session:/annotations/annotations-2';
    expect(sessionOfAnnotations(annotationsChannel(odd))).toBe(odd);
    for (const uri of [S, `${S}/annotations/x`, '/annotations', CHAT])
      expect(sessionOfAnnotations(uri)).toBe(uri === '/annotations' ? '' : undefined);
  });

  it('[UP-166] are counted with their entries', () => {
    const annotations = [annotation('a', { entries: notes(3) }), annotation('b')];
    const summary = { resource: annotationsChannel(S), annotationCount: 2, entryCount: 4 };
    expect(annotationsSummary(S, { annotations })).toEqual(summary);
  });

  it('[UP-166] are stored once there are some, or were', () => {
    const setUp = (stored?: object) => {
      const writer = { storeArchive: vi.fn(), write: vi.fn(() => ({ before: 1, after: 2 })), shown: 7 };
      const reopen = vi.fn(async () => undefined);
      const options = {
        session: S,
        writer,
        changed: vi.fn(),
        isClosed: () => false,
        isChat: () => true,
        reopen,
        stored,
      };
      return { annotations: new Annotations(options as never), writer, changed: options.changed };
    };
    const none = setUp();
    none.annotations.storeArchive();
    expect(none.writer.storeArchive).not.toHaveBeenCalled();
    expect(none.annotations.takeSnapshot()).toMatchObject({ snapshot: { state: { annotations: [] }, fromSeq: 7 } });
    none.annotations.write({ type: 'annotations/removed', annotationId: 'a' } as never);
    expect(none.changed).toHaveBeenCalledOnce();
    none.writer.write.mockReturnValue({ before: 1, after: 1 });
    none.annotations.write({ type: 'annotations/removed', annotationId: 'a' } as never);
    expect(none.changed).toHaveBeenCalledOnce();
    none.annotations.storeArchive();
    const some = setUp({ state: { annotations: [annotation('a')] }, lastTime: 50 });
    some.annotations.storeArchive();
    const channel = annotationsChannel(S);
    expect(
      (some.writer.storeArchive.mock.calls as unknown as [string, () => object][]).map(([uri, make]) => [uri, make()]),
    ).toEqual([
      [channel, { channel, head: JSON.stringify({ annotations: [annotation('a')] }), turns: { start: 0, items: [] } }],
    ]);
    expect([none.writer.storeArchive.mock.calls.length, some.annotations.channel.timeAt(0)]).toEqual([1, 50]);
  });
});

describe('annotations that are attached to a message', () => {
  const uri = annotationsChannel(S);
  const read = (attachments: readonly object[] | undefined, annotations: readonly Annotation[]) => {
    const message = { text: 'x', ...(attachments && { attachments }) } as unknown as Message;
    return withAnnotationTexts(message, { uri, state: { annotations } as AnnotationsState });
  };
  const textOf = (attachment: object, annotations: readonly Annotation[]) => {
    const [given] = read([attachment], annotations).attachments ?? [];
    return given && 'modelRepresentation' in given ? given.modelRepresentation : undefined;
  };
  const attached = { type: 'annotations', resource: uri, label: 'Notes' };

  it('[UP-075] are read by the model with their places, as people count', () => {
    const range = { start: { line: 0, character: 4 }, end: { line: 2, character: 9 } };
    const all = [
      annotation('a', { range, entries: [note('1', 'one\ntwo'), note('2', { markdown: '*three*' })] }),
      annotation('b', { resolved: true }),
    ];
    expect(textOf(attached, all)).toBe(
      [
        'Notes',
        'On file:///a, line 1, column 5 to line 3, column 10:',
        ...['- one', '  two', '- *three*', 'On file:///a (resolved):', '- n'],
      ].join('\n'),
    );
    expect(textOf({ ...attached, annotationIds: ['b', 'x'] }, all)).toBe(
      'Notes\nOn file:///a (resolved):\n- n\nAn annotation that was removed meanwhile.',
    );
    expect(textOf(attached, [])).toBe('Notes\nThere are no annotations.');
    expect(textOf({ ...attached, resource: 'x' }, all)).toContain('Notes (annotations of another session');
  });

  it('[REL-098] are cut when they are long', () => {
    const long = (length: number) => {
      const rest = 'Notes\nOn file:///a:\n- '.length;
      return textOf(attached, [annotation('a', { entries: [note('1', 'x'.repeat(length - rest))] })]);
    };
    expect(long(ANNOTATIONS_TEXT_MAX_CHARACTERS)).toHaveLength(ANNOTATIONS_TEXT_MAX_CHARACTERS);
    expect(long(ANNOTATIONS_TEXT_MAX_CHARACTERS + 1)).toMatch(
      /^Notes\n.*\n- x+\n\[Cut: there are more annotations\.\]$/,
    );
  });

  it('leave a message without them as it is, and other attachments', () => {
    const file = { type: 'file', uri: 'file:///x' };
    expect(read(undefined, [])).toEqual({ text: 'x' });
    expect(read([file], []).attachments).toEqual([file]);
    expect(read([file, attached], []).attachments).toMatchObject([file, { type: 'simple', label: 'Notes' }]);
  });
});
