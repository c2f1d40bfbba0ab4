/** The edge of the panel: dragged, or moved with the arrow keys; a double click makes the panel as wide as at first. */
import { type KeyboardEvent, type PointerEvent, useLayoutEffect, useRef, useState } from 'react';
import { useStore } from '../model/store.js';
import { keepPanelWidth, panelWidth, setPanelWidth, WIDTH_MIN_PX, widthMax } from '../ui/panel-width.js';

const STEP_PX = 24;
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: STEP_PX, ArrowRight: -STEP_PX };

export function PanelEdge() {
  const edge = useRef<HTMLDivElement>(null);
  const wanted = useStore(panelWidth);
  const [width, setWidth] = useState(WIDTH_MIN_PX);
  const panel = () => edge.current?.parentElement?.getBoundingClientRect() ?? new DOMRect();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is wanted is a reason to look what it became
  useLayoutEffect(() => setWidth(Math.round(panel().width)), [wanted]);
  const dragged = ({ currentTarget, pointerId, clientX }: PointerEvent) => {
    if (currentTarget.hasPointerCapture(pointerId)) setPanelWidth(panel().right - clientX);
  };
  const change = (next: number | undefined) => {
    setPanelWidth(next);
    keepPanelWidth();
  };
  const pressed = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    change(panel().width + step);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved; this can
    <div
      ref={edge}
      className="panel-edge"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the panel"
      aria-valuenow={width}
      aria-valuemin={WIDTH_MIN_PX}
      aria-valuemax={Math.max(width, widthMax())}
      tabIndex={0}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={dragged}
      onPointerUp={keepPanelWidth}
      onDoubleClick={() => change(undefined)}
      onKeyDown={pressed}
    />
  );
}
