/** The messages between the page and the frame that draws diagrams, and the limits. */

/** The page shows longer sources as text. */
export const DIAGRAM_SOURCE_MAX_CHARACTERS = 20_000;
export const DIAGRAM_EDGES_MAX = 300;
/** The page does not show larger pictures. */
export const DIAGRAM_PICTURE_MAX_CHARACTERS = 2_000_000;

export interface DiagramColours {
  readonly isDark: boolean;
  readonly paper: string;
  readonly raised: string;
  readonly sunken: string;
  readonly wash: string;
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
}

export interface DiagramRequest {
  readonly id: number;
  readonly source: string;
  readonly colours: DiagramColours;
  /** The frame shares no script with the page, so each request carries the limits. */
  readonly limits: { readonly characters: number; readonly edges: number };
}

export type DiagramAnswer =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'drawn';
      readonly id: number;
      readonly svg: string;
      readonly width: number;
      readonly height: number;
    }
  | { readonly kind: 'failed'; readonly id: number; readonly why: string };
