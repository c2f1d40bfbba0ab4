/** Questions to people, and their answers. Unknown kinds of questions pass; answers come from clients and are closed. */
import { type Static, Type } from 'typebox';
import { URI } from '../../common/types.js';
import { Choice, MapOf, OpenUnion } from '../../schema/define.js';

/** Members that every question has. */
const questionBase = {
  id: Type.String(),
  title: Type.Optional(Type.String()),
  message: Type.String({ description: 'The question.' }),
  required: Type.Optional(Type.Boolean({ description: 'Whether it must be answered.' })),
};

export const ChatInputTextQuestion = Type.Object(
  {
    kind: Type.Literal('text'),
    ...questionBase,
    format: Type.Optional(Type.String({ description: 'The format of the text, such as `email` or `uri`.' })),
    min: Type.Optional(Type.Number({ description: 'The minimum number of characters.' })),
    max: Type.Optional(Type.Number({ description: 'The maximum number of characters.' })),
    defaultValue: Type.Optional(Type.String()),
  },
  { $id: 'ChatInputTextQuestion', description: 'A question that is answered with text.' },
);
export type ChatInputTextQuestion = Static<typeof ChatInputTextQuestion>;

export const ChatInputNumberQuestion = Type.Object(
  {
    kind: Choice(['number', 'integer'], { description: 'Whether fractions are allowed.' }),
    ...questionBase,
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    defaultValue: Type.Optional(Type.Number()),
  },
  { $id: 'ChatInputNumberQuestion', description: 'A question that is answered with a number.' },
);
export type ChatInputNumberQuestion = Static<typeof ChatInputNumberQuestion>;

export const ChatInputBooleanQuestion = Type.Object(
  { kind: Type.Literal('boolean'), ...questionBase, defaultValue: Type.Optional(Type.Boolean()) },
  { $id: 'ChatInputBooleanQuestion', description: 'A question that is answered with yes or no.' },
);
export type ChatInputBooleanQuestion = Static<typeof ChatInputBooleanQuestion>;

export const ChatInputOption = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    description: Type.Optional(Type.String()),
    recommended: Type.Optional(Type.Boolean({ description: 'Whether it is the recommended option.' })),
  },
  { $id: 'ChatInputOption', description: 'An option of a question.' },
);
export type ChatInputOption = Static<typeof ChatInputOption>;

export const ChatInputSingleSelectQuestion = Type.Object(
  {
    kind: Type.Literal('single-select'),
    ...questionBase,
    options: Type.Array(ChatInputOption),
    allowFreeformInput: Type.Optional(Type.Boolean()),
  },
  { $id: 'ChatInputSingleSelectQuestion', description: 'A question that is answered with one of several options.' },
);
export type ChatInputSingleSelectQuestion = Static<typeof ChatInputSingleSelectQuestion>;

export const ChatInputMultiSelectQuestion = Type.Object(
  {
    kind: Type.Literal('multi-select'),
    ...questionBase,
    options: Type.Array(ChatInputOption),
    allowFreeformInput: Type.Optional(Type.Boolean()),
    min: Type.Optional(Type.Number({ description: 'The minimum number of options.' })),
    max: Type.Optional(Type.Number({ description: 'The maximum number of options.' })),
  },
  { $id: 'ChatInputMultiSelectQuestion', description: 'A question that is answered with any number of options.' },
);
export type ChatInputMultiSelectQuestion = Static<typeof ChatInputMultiSelectQuestion>;

export const ChatInputQuestion = OpenUnion(
  'kind',
  [
    ChatInputTextQuestion,
    ChatInputNumberQuestion,
    ChatInputBooleanQuestion,
    ChatInputSingleSelectQuestion,
    ChatInputMultiSelectQuestion,
  ],
  { $id: 'ChatInputQuestion', description: 'A question to a person.' },
);
export type ChatInputQuestion = Static<typeof ChatInputQuestion>;

export const ChatInputTextAnswerValue = Type.Object(
  { kind: Type.Literal('text'), value: Type.String({ description: 'The words.' }) },
  { $id: 'ChatInputTextAnswerValue', description: 'Words.' },
);
export type ChatInputTextAnswerValue = Static<typeof ChatInputTextAnswerValue>;

export const ChatInputNumberAnswerValue = Type.Object(
  { kind: Type.Literal('number'), value: Type.Number({ description: 'The number.' }) },
  { $id: 'ChatInputNumberAnswerValue', description: 'A number.' },
);
export type ChatInputNumberAnswerValue = Static<typeof ChatInputNumberAnswerValue>;

export const ChatInputBooleanAnswerValue = Type.Object(
  { kind: Type.Literal('boolean'), value: Type.Boolean({ description: 'Yes or no.' }) },
  { $id: 'ChatInputBooleanAnswerValue', description: 'Yes or no.' },
);
export type ChatInputBooleanAnswerValue = Static<typeof ChatInputBooleanAnswerValue>;

export const ChatInputSelectedAnswerValue = Type.Object(
  {
    kind: Type.Literal('selected'),
    value: Type.String({ description: 'The id of the option.' }),
    freeformValues: Type.Optional(Type.Array(Type.String())),
  },
  { $id: 'ChatInputSelectedAnswerValue', description: 'The selected option.' },
);
export type ChatInputSelectedAnswerValue = Static<typeof ChatInputSelectedAnswerValue>;

export const ChatInputSelectedManyAnswerValue = Type.Object(
  {
    kind: Type.Literal('selected-many'),
    value: Type.Array(Type.String(), { description: 'The ids of the options.' }),
    freeformValues: Type.Optional(Type.Array(Type.String())),
  },
  { $id: 'ChatInputSelectedManyAnswerValue', description: 'The selected options.' },
);
export type ChatInputSelectedManyAnswerValue = Static<typeof ChatInputSelectedManyAnswerValue>;

export const ChatInputAnswerValue = Type.Union(
  [
    ChatInputTextAnswerValue,
    ChatInputNumberAnswerValue,
    ChatInputBooleanAnswerValue,
    ChatInputSelectedAnswerValue,
    ChatInputSelectedManyAnswerValue,
  ],
  { $id: 'ChatInputAnswerValue', description: 'The value of an answer.' },
);
export type ChatInputAnswerValue = Static<typeof ChatInputAnswerValue>;

export const ChatInputAnswered = Type.Object(
  {
    state: Choice(['draft', 'submitted'], { description: 'Whether the answer may still change.' }),
    value: ChatInputAnswerValue,
  },
  { $id: 'ChatInputAnswered', description: 'An answer, as a draft or final.' },
);
export type ChatInputAnswered = Static<typeof ChatInputAnswered>;

export const ChatInputSkipped = Type.Object(
  { state: Type.Literal('skipped'), freeformValues: Type.Optional(Type.Array(Type.String())) },
  { $id: 'ChatInputSkipped', description: 'The person skipped the question.' },
);
export type ChatInputSkipped = Static<typeof ChatInputSkipped>;

export const ChatInputAnswer = Type.Union([ChatInputAnswered, ChatInputSkipped], {
  $id: 'ChatInputAnswer',
  description: 'An answer to a question, or that it was skipped.',
});
export type ChatInputAnswer = Static<typeof ChatInputAnswer>;

export const ChatInputRequest = Type.Object(
  {
    id: Type.String(),
    message: Type.Optional(Type.String()),
    url: Type.Optional(URI),
    questions: Type.Optional(Type.Array(ChatInputQuestion)),
    answers: Type.Optional(MapOf(ChatInputAnswer)),
  },
  {
    $id: 'ChatInputRequest',
    description: 'Something that a person must answer or look at before the agent continues.',
  },
);
export type ChatInputRequest = Static<typeof ChatInputRequest>;

export const ChatInputResponseKind = Choice(['accept', 'decline', 'cancel'], {
  $id: 'ChatInputResponseKind',
  description: 'How a person ended an input request.',
});
export type ChatInputResponseKind = Static<typeof ChatInputResponseKind>;
