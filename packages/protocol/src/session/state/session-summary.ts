import { type Static, Type } from 'typebox';
import { AgentSelection } from '../../common/agent-selection.js';
import { ModelSelection } from '../../common/model-selection.js';
import { URI } from '../../common/uri.js';
import { ChangesetSummary } from './changeset-summary.js';
import { ProjectInfo } from './project-info.js';

export const SessionSummary = Type.Object(
  {
    resource: URI,
    provider: Type.String(),
    title: Type.String(),
    status: Type.Integer({
      description:
        'Activity in the five lowest bits: 1 idle, 2 error, 8 in progress, 24 waits for input. 32: was read. 64: is archived.',
    }),
    activity: Type.Optional(Type.String({ description: 'What it is doing now, in a few words.' })),
    createdAt: Type.Number({ description: 'Milliseconds since 1970.' }),
    modifiedAt: Type.Number({ description: 'Milliseconds since 1970.' }),
    project: Type.Optional(ProjectInfo),
    model: Type.Optional(ModelSelection),
    agent: Type.Optional(AgentSelection),
    workingDirectory: Type.Optional(URI),
    changesets: Type.Optional(Type.Array(ChangesetSummary)),
  },
  { $id: 'SessionSummary', description: 'What a list of sessions shows.' },
);
export type SessionSummary = Static<typeof SessionSummary>;
