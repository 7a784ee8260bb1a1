import { koaSite } from './frameworks/koa.js';
import { siteSuite } from './site-suite.js';

siteSuite(koaSite('Koa 3'));
siteSuite(
  koaSite('Koa 3 after @koa/bodyparser, in another router', { bodyParser: true, mounted: 'in another router' }),
);
siteSuite(koaSite('Koa 3 with koa-mount', { mounted: 'by koa-mount' }));
siteSuite(koaSite('Koa 3 behind koa-compress', { compress: true }));
