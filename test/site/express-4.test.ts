import express from 'express4';
import { expressSite } from './frameworks/express.js';
import { siteSuite } from './site-suite.js';

siteSuite(expressSite('Express 4', express));
siteSuite(expressSite('Express 4 after express.json()', express, { json: true }));
