import { createContext } from 'react';

import type { LinksTo } from './link-address.js';

/** The addresses that links of an answer lead to, and the tab in which pages of the site open. */
export interface AnswerLinks {
  readonly linksTo: LinksTo;
  readonly isSameTab: boolean;
}

export const LinksContext = createContext<AnswerLinks>({ linksTo: 'web', isSameTab: false });
