import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const OtlpExportMetricsParams = Type.Object(
  {
    channel: URI,
    payload: Type.Object({ resourceMetrics: Type.Array(Type.Unknown(), { description: 'As OTLP/JSON defines it.' }) }),
  },
  { $id: 'OtlpExportMetricsParams', description: 'Metrics in OTLP/JSON.' },
);
export type OtlpExportMetricsParams = Static<typeof OtlpExportMetricsParams>;
