import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { App } from './page/app';
import 'agent-bff-react/style.css';
import './page/page.css';
import './page/header.css';
import './page/cards.css';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element "root".');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
