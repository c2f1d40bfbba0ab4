/** Questions to people, and their answers. */
import { type Static, Type } from 'typebox';
import { URI } from '../common/types.js';
import { Choice, MapOf } from '../schema/define.js';

/** Members that every question has. */
const questionBase = {
  id: Type.String(),
  title: Type.Optional(Type.String()),
  message: Type.String({ description: 'The question.' }),
  required: Type.Optional(Type.Boolean({ description: 'Whether it must be answered.' })),
};

export const SessionInputTextQuestion = Type.Object(
  {
    kind: Type.Literal('text'),
    ...questionBase,
    format: Type.Optional(Type.String({ description: 'The format of the text, such as `email` or `uri`.' })),
    min: Type.Optional(Type.Number({ description: 'The minimum number of characters.' })),
    max: Type.Optional(Type.Number({ description: 'The maximum number of characters.' })),
    defaultValue: Type.Optional(Type.String()),
  },
  { $id: 'SessionInputTextQuestion', description: 'A question that is answered with text.' },
);
export type SessionInputTextQuestion = Static<typeof SessionInputTextQuestion>;

export const SessionInputNumberQuestion = Type.Object(
  {
    kind: Choice(['number', 'integer'], { description: 'Whether fractions are allowed.' }),
    ...questionBase,
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    defaultValue: Type.Optional(Type.Number()),
  },
  { $id: 'SessionInputNumberQuestion', description: 'A question that is answered with a number.' },
);
export type SessionInputNumberQuestion = Static<typeof SessionInputNumberQuestion>;

export const SessionInputBooleanQuestion = Type.Object(
  { kind: Type.Literal('boolean'), ...questionBase, defaultValue: Type.Optional(Type.Boolean()) },
  { $id: 'SessionInputBooleanQuestion', description: 'A question that is answered with yes or no.' },
);
export type SessionInputBooleanQuestion = Static<typeof SessionInputBooleanQuestion>;

export const SessionInputOption = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    description: Type.Optional(Type.String()),
    recommended: Type.Optional(Type.Boolean({ description: 'Whether it is the recommended option.' })),
  },
  { $id: 'SessionInputOption', description: 'An option of a question.' },
);
export type SessionInputOption = Static<typeof SessionInputOption>;

export const SessionInputSingleSelectQuestion = Type.Object(
  {
    kind: Type.Literal('single-select'),
    ...questionBase,
    options: Type.Array(SessionInputOption),
    allowFreeformInput: Type.Optional(Type.Boolean()),
  },
  { $id: 'SessionInputSingleSelectQuestion', description: 'A question that is answered with one of several options.' },
);
export type SessionInputSingleSelectQuestion = Static<typeof SessionInputSingleSelectQuestion>;

export const SessionInputMultiSelectQuestion = Type.Object(
  {
    kind: Type.Literal('multi-select'),
    ...questionBase,
    options: Type.Array(SessionInputOption),
    allowFreeformInput: Type.Optional(Type.Boolean()),
    min: Type.Optional(Type.Number({ description: 'The minimum number of options.' })),
    max: Type.Optional(Type.Number({ description: 'The maximum number of options.' })),
  },
  { $id: 'SessionInputMultiSelectQuestion', description: 'A question that is answered with any number of options.' },
);
export type SessionInputMultiSelectQuestion = Static<typeof SessionInputMultiSelectQuestion>;

export const SessionInputQuestion = Type.Union(
  [
    SessionInputTextQuestion,
    SessionInputNumberQuestion,
    SessionInputBooleanQuestion,
    SessionInputSingleSelectQuestion,
    SessionInputMultiSelectQuestion,
  ],
  { $id: 'SessionInputQuestion', description: 'A question to a person.' },
);
export type SessionInputQuestion = Static<typeof SessionInputQuestion>;

export const SessionInputTextAnswerValue = Type.Object(
  { kind: Type.Literal('text'), value: Type.String({ description: 'The words.' }) },
  { $id: 'SessionInputTextAnswerValue', description: 'Words.' },
);
export type SessionInputTextAnswerValue = Static<typeof SessionInputTextAnswerValue>;

export const SessionInputNumberAnswerValue = Type.Object(
  { kind: Type.Literal('number'), value: Type.Number({ description: 'The number.' }) },
  { $id: 'SessionInputNumberAnswerValue', description: 'A number.' },
);
export type SessionInputNumberAnswerValue = Static<typeof SessionInputNumberAnswerValue>;

export const SessionInputBooleanAnswerValue = Type.Object(
  { kind: Type.Literal('boolean'), value: Type.Boolean({ description: 'Yes or no.' }) },
  { $id: 'SessionInputBooleanAnswerValue', description: 'Yes or no.' },
);
export type SessionInputBooleanAnswerValue = Static<typeof SessionInputBooleanAnswerValue>;

export const SessionInputSelectedAnswerValue = Type.Object(
  {
    kind: Type.Literal('selected'),
    value: Type.String({ description: 'The id of the option.' }),
    freeformValues: Type.Optional(Type.Array(Type.String())),
  },
  { $id: 'SessionInputSelectedAnswerValue', description: 'The selected option.' },
);
export type SessionInputSelectedAnswerValue = Static<typeof SessionInputSelectedAnswerValue>;

export const SessionInputSelectedManyAnswerValue = Type.Object(
  {
    kind: Type.Literal('selected-many'),
    value: Type.Array(Type.String(), { description: 'The ids of the options.' }),
    freeformValues: Type.Optional(Type.Array(Type.String())),
  },
  { $id: 'SessionInputSelectedManyAnswerValue', description: 'The selected options.' },
);
export type SessionInputSelectedManyAnswerValue = Static<typeof SessionInputSelectedManyAnswerValue>;

export const SessionInputAnswerValue = Type.Union(
  [
    SessionInputTextAnswerValue,
    SessionInputNumberAnswerValue,
    SessionInputBooleanAnswerValue,
    SessionInputSelectedAnswerValue,
    SessionInputSelectedManyAnswerValue,
  ],
  { $id: 'SessionInputAnswerValue', description: 'The value of an answer.' },
);
export type SessionInputAnswerValue = Static<typeof SessionInputAnswerValue>;

export const SessionInputAnswered = Type.Object(
  {
    state: Choice(['draft', 'submitted'], { description: 'Whether the answer may still change.' }),
    value: SessionInputAnswerValue,
  },
  { $id: 'SessionInputAnswered', description: 'An answer, as a draft or final.' },
);
export type SessionInputAnswered = Static<typeof SessionInputAnswered>;

export const SessionInputSkipped = Type.Object(
  { state: Type.Literal('skipped'), freeformValues: Type.Optional(Type.Array(Type.String())) },
  { $id: 'SessionInputSkipped', description: 'The person skipped the question.' },
);
export type SessionInputSkipped = Static<typeof SessionInputSkipped>;

export const SessionInputAnswer = Type.Union([SessionInputAnswered, SessionInputSkipped], {
  $id: 'SessionInputAnswer',
  description: 'An answer to a question, or that it was skipped.',
});
export type SessionInputAnswer = Static<typeof SessionInputAnswer>;

export const SessionInputRequest = Type.Object(
  {
    id: Type.String(),
    message: Type.Optional(Type.String()),
    url: Type.Optional(URI),
    questions: Type.Optional(Type.Array(SessionInputQuestion)),
    answers: Type.Optional(MapOf(SessionInputAnswer)),
  },
  {
    $id: 'SessionInputRequest',
    description: 'Something that a person must answer or look at before the agent continues.',
  },
);
export type SessionInputRequest = Static<typeof SessionInputRequest>;

export const SessionInputResponseKind = Choice(['accept', 'decline', 'cancel'], {
  $id: 'SessionInputResponseKind',
  description: 'How a person ended an input request.',
});
export type SessionInputResponseKind = Static<typeof SessionInputResponseKind>;
