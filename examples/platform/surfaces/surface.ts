/** What the visitor filled in, by the names of the fields. */
export type Fields = Readonly<Record<string, string>>;

/** How a widget looks to one caller now. */
export interface SurfaceView {
  /** Grows with each change the caller can see. */
  readonly version: number;
  /** Plain markup; `data-action` names the action that a form or a button submits. */
  readonly html: string;
}

/** A widget of the platform. */
export interface Surface {
  readonly id: string;
  /** The other way to address it. */
  readonly name: string;
  readonly title: string;
  /** A style sheet for a shadow tree. */
  readonly theme: string;
  /** By name. Each gives the words to thank the visitor with, and throws ActionRefused when the fields are wrong. */
  readonly actions: ReadonlyMap<string, (caller: string, fields: Fields) => string>;
  view(caller: string): SurfaceView;
}

/** Why an action was not done; its text is for the visitor. */
export class ActionRefused extends Error {}
