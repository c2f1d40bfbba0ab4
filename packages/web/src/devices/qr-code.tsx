/** A QR code as one path of an SVG: the policy of the page allows neither inline styles nor scripts. */
import { encode } from 'uqr';

/** Readers need four empty modules around the code. */
const QUIET_MODULES = 4;

export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size: modules } = encode(text, { border: QUIET_MODULES });
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg
      className="qr-code"
      viewBox={`0 0 ${modules} ${modules}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={modules} height={modules} className="qr-ground" />
      <path d={path.join('')} className="qr-modules" />
    </svg>
  );
}
