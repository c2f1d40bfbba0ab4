import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const OtlpExportTracesParams = Type.Object(
  {
    channel: URI,
    payload: Type.Object({ resourceSpans: Type.Array(Type.Unknown(), { description: 'As OTLP/JSON defines it.' }) }),
  },
  { $id: 'OtlpExportTracesParams', description: 'Spans in OTLP/JSON.' },
);
export type OtlpExportTracesParams = Static<typeof OtlpExportTracesParams>;
