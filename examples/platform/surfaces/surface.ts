/** The values the visitor entered, by field name. */
export type Fields = Readonly<Record<string, string>>;

/** A widget as one caller sees it now. */
export interface SurfaceView {
  /** Increases with each change the caller can see. */
  readonly version: number;
  /** Plain markup; `data-action` names the action that a form or a button submits. */
  readonly html: string;
}

/** A widget of the platform. */
export interface Surface {
  readonly id: string;
  /** The alternative to its id. */
  readonly name: string;
  readonly title: string;
  /** A style sheet for a shadow tree. */
  readonly theme: string;
  /** By name. Each returns a thank-you message, and throws ActionRefused if the fields are invalid. */
  readonly actions: ReadonlyMap<string, (caller: string, fields: Fields) => string>;
  view(caller: string): SurfaceView;
}

/** The reason why an action was rejected; its text is for the visitor. */
export class ActionRefused extends Error {}
