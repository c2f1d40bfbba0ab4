import { type Static, Type } from 'typebox';
import { AgentSelection } from '../../common/agent-selection.js';
import { ModelSelection } from '../../common/model-selection.js';
import { URI } from '../../common/uri.js';
import { ChangesetSummary } from '../../session/state/changeset-summary.js';
import { ProjectInfo } from '../../session/state/project-info.js';

export const SessionSummaryChanges = Type.Object(
  {
    title: Type.Optional(Type.String()),
    status: Type.Optional(Type.Integer({ description: 'As in `SessionSummary`.' })),
    activity: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'What it is doing now, in a few words.' }),
    ),
    modifiedAt: Type.Optional(Type.Number({ description: 'Milliseconds since 1970.' })),
    project: Type.Optional(Type.Union([ProjectInfo, Type.Null()])),
    model: Type.Optional(Type.Union([ModelSelection, Type.Null()])),
    agent: Type.Optional(Type.Union([AgentSelection, Type.Null()])),
    workingDirectory: Type.Optional(Type.Union([URI, Type.Null()])),
    changesets: Type.Optional(Type.Union([Type.Array(ChangesetSummary), Type.Null()])),
  },
  { $id: 'SessionSummaryChanges', description: 'The members of a summary that may change, each as its new value.' },
);
export type SessionSummaryChanges = Static<typeof SessionSummaryChanges>;
