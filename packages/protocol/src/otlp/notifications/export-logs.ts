import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const OtlpExportLogsParams = Type.Object(
  {
    channel: URI,
    payload: Type.Object({ resourceLogs: Type.Array(Type.Unknown(), { description: 'As OTLP/JSON defines it.' }) }),
  },
  { $id: 'OtlpExportLogsParams', description: 'Log records in OTLP/JSON.' },
);
export type OtlpExportLogsParams = Static<typeof OtlpExportLogsParams>;
