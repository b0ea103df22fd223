-- Sites of the seeded web in other languages. For the form of a site see web_build.lua.
return {
  {
    host = "holzwerkstatt.example", folder = "anleitungen", title = "{1} - Schritt für Schritt",
    home = "Die Holzwerkstatt",
    about = [[
Auf diesen Seiten sammeln wir Anleitungen für Verbindungen, Oberflächen und kleine Möbel. Jede
Anleitung wurde von zwei Leuten nachgebaut, die sie vorher nicht kannten. Maße stehen immer in
Millimetern, Zeiten gelten für ruhiges Arbeiten ohne Maschinenpark. Wer einen Fehler findet,
schreibt uns bitte den Absatz und das Datum. Werbung für Hersteller nehmen wir nicht an. Die
Reihenfolge der Seiten folgt dem Lehrjahr, nicht dem Alphabet.]],
    pages = [[
Schwalbenschwanzzinken|Feinsäge|Kirschbaum|Anreißnadel
Fingerzinken|Zinkensäge|Esche|Zinkenschablone
Gratleiste|Gratsäge|Rüster|Grathobel
Überblattung|Rückensäge|Fichte|Streichmaß
Schlitz und Zapfen|Stemmeisen|Eiche|Klüpfel
Nutfräsung|Oberfräse|Buche|Parallelanschlag
Dübelverbindung|Handbohrmaschine|Ahorn|Dübelspitzen
Gehrungsecke|Gehrungssäge|Birnbaum|Gehrungslade
Furnierarbeit|Furniermesser|Nussbaum|Fugenpapier
Schellackpolitur|Polierballen|Mahagoni|Bimsmehl
Seifenfinish|Schwamm|Lärche|Kernseife
Hobelbankbau|Raubank|Rotbuche|Bankhaken
Melkschemel|Ziehmesser|Linde|Schnitzbock
Schubkastenbau|Absatzsäge|Erle|Laufleiste
Stuhlflechten|Ahle|Weide|Binsengeflecht
Leimholzplatte|Schraubzwinge|Kiefer|Zulage
Drechselschale|Schalenröhre|Zwetschge|Spundfutter
Beizen mit Nussgranulat|Vertreiber|Ulme|Körnerbeize]],
    text = [[
Diese Anleitung zeigt {1} an einem Werkstück aus {3}.
Für {1} eignet sich {3} besonders gut.

Das wichtigste Werkzeug ist hier: {2}; es muss scharf und trocken sein.
Gebraucht wird vor allem ein Werkzeug, nämlich {2}.

Zuerst wird mit {20-80} Millimetern Zugabe abgelängt und {zweimal|dreimal} gemessen.
Reiße die Linien {fein|deutlich} an und prüfe den Winkel nach {5-15} Minuten noch einmal.

Ein Helfer, den viele vergessen: {4}.
Ohne {4} gelingt der Übergang nur mit Glück.

Rechne mit {2-6} Stunden, verteilt auf {einen Abend|zwei Abende}.
Die reine Arbeitszeit liegt bei {40-180} Minuten, das Trocknen kommt hinzu.

Wenn die Fuge offen bleibt, hilft {ein Span|etwas Leim mit Staub|nur ein neuer Versuch}.
Der häufigste Fehler ist zu viel {Druck|Leim|Eile} beim letzten Schritt.

Danach {leicht|gründlich} schleifen, Körnung {120-240}, immer in Faserrichtung.
Zum Schluss die Kanten brechen und das Stück {2-5} Tage ruhen lassen.

Nachgebaut im {Januar|Mai|Oktober} von {zwei|drei|vier} Mitgliedern.
Fragen dazu beantwortet die Runde am {Dienstag|Donnerstag} in der Werkstatt.]],
  },
  {
    host = "levain-du-port.example", folder = "pains", title = "{1}, le pain du {4}",
    home = "Le levain du port",
    about = [[
Ce carnet décrit les pains que nous cuisons ensemble dans le four de la halle, du lundi au samedi.
Chaque page indique la farine, le temps de repos et l'erreur que font les débutants. Les quantités
valent pour deux pains de taille moyenne. Nous n'utilisons ni améliorants ni levure sèche, mais
personne n'est jugé pour cela. Les visiteurs peuvent assister à la première fournée s'ils arrivent
avant six heures et gardent le silence.]],
    pages = [[
La miche grise|farine de meule|douze|lundi|son grillé
Le pain de seigle noir|seigle complet|vingt|mardi|mélasse
La couronne aux noix|froment bis|neuf|mercredi|cerneaux
Le bâtard de Saint-Elme|blé tendre|dix|jeudi|grigne profonde
La fougasse aux olives|farine blanche|six|vendredi|olives cassées
Le pavé d'épeautre|épeautre|onze|samedi|miel de bruyère
La tourte de sarrasin|sarrasin|huit|lundi|cidre brut
Le pain des mousses|gruau|sept|mardi|algues séchées
La brioche du quai|farine de gruau|quatorze|mercredi|fleur d'oranger
Le pain bouilli|seigle et froment|dix-huit|jeudi|eau bouillante
La flûte au sésame|blé ancien|cinq|vendredi|sésame torréfié
Le pain de châtaigne|châtaigne|treize|samedi|écorce fendue
La galette d'orge|orge mondé|quatre|lundi|beurre salé
Le pain au lait ribot|froment clair|neuf|mardi|lait ribot
La boule aux figues|farine bise|quinze|mercredi|figues sèches
Le pain de pêcheur|méteil|seize|jeudi|croûte épaisse
La ficelle au thym|farine légère|trois|vendredi|thym citron
Le pain de veille|vieux blé|vingt-deux|samedi|levain raide]],
    text = [[
{1} se prépare avec une base simple : {2}.
{1} : nous pétrissons surtout ceci, {2}.

La pâte repose {3} heures au {frais|calme}, couverte d'un linge.
Comptez {3} heures de repos, un peu {plus|moins} en hiver.

Ce qui la distingue des autres pâtes : {5}.
La touche finale tient en peu de mots : {5}.

Versez {300-700} grammes d'eau en {deux|trois} fois, sans vous presser.
Le sel, {8-18} grammes, entre seulement après le premier rabat.

Le four doit atteindre {220-260} degrés, puis descendre de {20-40}.
La cuisson dure de {28-35} à {40-55} minutes selon la taille.

L'erreur des débutants est d'ajouter de la farine quand la pâte {colle|s'étale}.
Beaucoup coupent le pain trop {tôt|chaud} et le regrettent.

Vendu le {4} à la halle, {2-6} couronnes la pièce.
Le {4}, la première fournée sort à {5-7} heures et {10-50} minutes.

Recette transmise par {une voisine|un ancien mousse|deux boulangers} du quartier.
Nous l'avons refaite {quatre|six|neuf} fois avant de l'écrire.]],
  },
  {
    host = "pueblos-del-alto.example", folder = "pueblos", title = "{1}, pueblo de {3}",
    home = "Pueblos del Alto",
    about = [[
Esta guía reúne los pueblos del valle alto y de la sierra, visitados uno a uno por vecinos que
conocen los caminos. No recomendamos hoteles ni cobramos por aparecer. Cada página cuenta cómo
llegar, qué se fabrica y qué día conviene ir. Los horarios de autobús cambian en septiembre, así
que pregunte antes de salir. Si una fuente está seca o un puente cortado, escríbanos y lo
anotaremos el mismo día.]],
    pages = [[
Valdecorza|620|alfareros|cántaros vidriados
Peñalarga|980|pastores|queso ahumado
Moratillo|410|cesteros|cestas de mimbre
Fuentesorda|750|apicultores|miel de romero
Robledal|1100|carboneros|hornos de carbón
Torrequinta|530|herreros|rejas forjadas
Almazuela|690|tejedoras|colchas de retales
Navahonda|1240|ganaderos|potros serranos
Campoviejo|380|hortelanos|pimientos asados
Escarchilla|1320|neveros|pozos de nieve
Puentelobo|470|molineros|harina de centeno
Sotoclaro|560|carpinteros|carros pintados
Villacueva|820|canteros|bodegas excavadas
Zarzosa|900|boticarios|jarabe de zarza
Mirafalcón|1050|halconeros|torre de vigía
Hontanilla|640|curtidores|zurrones de cuero
Olmedrán|430|lutieres|guitarras de olmo
Retamosa|710|caleros|cal apagada]],
    text = [[
{1} está a {2} metros de altura y fue siempre pueblo de {3}.
A {2} metros se encuentra {1}, conocido por sus {3}.

En invierno hay en {1} unas {70-480} chimeneas encendidas y {2-9} talleres con la puerta abierta.
Hoy quedan {2-9} talleres abiertos y {80-460} vecinos en invierno.
Viven aquí {90-520} personas, y en agosto el {doble|triple}.

Lo que se lleva el viajero a casa tiene nombre: {4}.
En la plaza se ven todavía {4}, a la sombra de los soportales.

Hasta {1} se sube en {20-90} minutos desde el cruce, con paciencia.
Se llega por la carretera vieja, con {6-30} curvas y una {fuente|ermita} a mitad de camino.
El autobús pasa {dos|tres} veces al día y para junto a la {iglesia|escuela}.

Para ver a los {3} trabajando hay que madrugar un {martes|viernes}.
El mejor día es el {lunes|jueves|sábado}, cuando hay mercado hasta las {12-14}.
Conviene ir en {mayo|junio|octubre}, con los huertos {verdes|llenos} y poca gente.

La fuente del {norte|barrio bajo} da agua fría incluso en verano.
El puente tiene {3-7} ojos y se cruza a pie.

Quien tenga hambre en {1} encontrará {pan|sopa|queso} en la tercera puerta.
Para comer hay {una casa|dos casas} sin carta: se pregunta y se espera.
La panadería cierra a las {11-13} y no hay otra tienda.

Visitado por última vez en {marzo|julio|noviembre}.
Página revisada por {dos|tres|cuatro} vecinos del valle.]],
  },
  {
    host = "oficina-do-azulejo.example", folder = "padroes", title = "Padrão {1}",
    home = "Oficina do Azulejo",
    about = [[
A oficina restaura painéis de azulejo e mantém um caderno de padrões desenhados à mão. Cada página
descreve um padrão, a sua cor de base e o cuidado que exige no forno. Os moldes emprestam-se por
um mês a quem deixar um desenho em troca. Não vendemos peças antigas, nem aconselhamos quem as
arranca das paredes. As visitas fazem-se às terças, em grupos pequenos, e terminam sempre com as
mãos sujas de barro.]],
    pages = [[
Andorinha|azul cobalto|965|asas cruzadas
Barlavento|verde garrafa|980|ondas quebradas
Caravela|azul-cinza|970|velas cheias
Dobadoura|amarelo palha|940|fios em espiral
Espiga|ocre|955|grãos alinhados
Farol|branco quente|990|raios finos
Gaivota|cinza claro|975|bicos em losango
Hortelã|verde água|945|folhas serrilhadas
Ilhéu|turquesa|985|círculos soltos
Jangada|castanho|960|tábuas cruzadas
Limoeiro|amarelo vivo|950|gomos abertos
Moliceiro|vermelho velho|935|proas curvas
Nora|azul noite|968|alcatruzes
Oleiro|terracota|930|torno estilizado
Peneira|bege|958|malha apertada
Quinta-feira|lilás|942|sinos pequenos
Romã|carmim|938|bagos brilhantes
Salina|branco azulado|992|talhos quadrados]],
    text = [[
O padrão {1} tem como cor de base o {2}.
Sobre fundo {2}, o padrão {1} repete-se sem emenda.

Reconhece-se por um motivo: {4}.
O desenho mostra {4}, traçados com pincel de {2-6} pelos.

Coze-se a {3} graus, com subida lenta de {3-8} horas.
No forno pede {3} graus e um arrefecimento de {10-30} horas.

Em {20-70} placas de {1} cabem {2-9} erros sem que o conjunto sofra.
Cada placa mede {13-15} centímetros e pesa perto de {180-320} gramas.
São precisas {16-64} placas para um painel completo.

Quem pinta {1} pela primeira vez estraga {3-9} peças no {vidrado|contorno}.
O erro comum é carregar demasiado o {vidrado|pincel|molde} nos cantos.
Se a cor sair {baça|manchada|escura}, o barro estava húmido.

Encontrámos este desenho numa {escada|cozinha|capela} da rua {de cima|do porto|nova}.
O original vinha de uma {farmácia|estação|padaria} demolida há {20-70} anos.

De {1} restam {4-30} fragmentos numa caixa com etiqueta de {1920-1969}.
Para restauro guardamos {5-40} peças soltas, numeradas a lápis.
O molde está disponível para empréstimo desde {abril|maio|setembro}.

Ficha escrita por {duas|três} aprendizes e revista na oficina.
Quem tiver fotografias antigas pode deixá-las ao balcão.]],
  },
  {
    host = "fietsrondjes.example", folder = "routes", title = "Fietsrondje {1}",
    home = "Fietsrondjes",
    about = [[
Op deze site staan fietsrondjes voor een vrije middag, gereden en beschreven door leden van een
kleine club. Elke pagina noemt de lengte, het beginpunt en de plek waar je koffie krijgt. Wij
rijden zonder haast en zonder stroom, al mag het met. Omleidingen melden we zodra iemand ze heeft
gezien. Foto's plaatsen we niet, want dan kijkt iedereen naar het scherm. Het clubhuis is op
zondag open als het droog is.]],
    pages = [[
Kraaienbos|28|het pompstation|een scheve wegwijzer
Lage Zwet|34|de sluis|drie houten bruggen
Molenwaard|22|de korenmolen|een pad van schelpen
Nachtegaaldijk|41|het veerhuis|lange rijen populieren
Oeverse Plas|19|de zwemsteiger|een vogelkijkhut
Palingkade|26|de visafslag|glimmende klinkers
Rietvoorn|31|het gemaal|wuivend riet
Schapenheide|37|de schaapskooi|mul zand
Tolbrug|24|het tolhuisje|een ijzeren slagboom
Uilenburcht|29|de ruine|een holle linde
Vlasakker|33|de braakloods|blauwe velden
Wintertuin|21|de oranjerie|beslagen ramen
IJsvogelbeek|27|de watermolen|steile oevers
Zandloper|45|de zandput|een trap van boomstammen
Anderwijk|30|het raadhuis|een muziektent
Bosbessenpad|18|de boswachterij|paarse vingers
Droogmakerij|39|de ringdijk|kaarsrechte sloten
Eikenlaan|23|het landgoed|knoestige eiken]],
    text = [[
Het rondje {1} is {2} kilometer lang en begint bij {3}.
Wie bij {3} begint, fietst het rondje {1} van {2} kilometer met de wind mee.

Onderweg zie je {4}, ongeveer {3-12} kilometer na de start.
Het mooiste stuk herken je zo: {4}.

Voor {1} trekken wij {100-240} minuten uit, met een band plakken erbij.
Reken op {2-4} uur met {een|twee} pauzes.
Een rustige rijder doet er {90-200} minuten over.

Neem brood mee: op het rondje {1} is na {14-17} uur niets meer open.
Koffie is er in het {dorp|gehucht} bij de {kerk|brug|bakker}, behalve op {maandag|dinsdag}.
De {bakker|smid|kaasboer} vult je bidon en vertelt er een verhaal bij.

Wie paal {12-88} mist, komt uit bij een {hek|sloot|weiland} en keert om.
Let op bij paal {11-89}: daar ga je {links|rechts}, ook als het bord ontbreekt.
Bij de {tweede|derde} spoorovergang is het wegdek {slecht|nat|los}.

Bij {3} hangt een kaartje waarop staat hoe nat {1} vandaag is.
Na regen is het pad {modderig|glad} en duurt alles een {kwartier|half uur} langer.
In het {voorjaar|najaar} staat er vaak water op de weg.

Moe? Vanaf {3} kun je {1} ook in {12-18} kilometer rijden.
Er rijdt geen trein terug, dus bewaar kracht voor de laatste {4-9} kilometer.
De bus neemt fietsen mee als er plaats is, na {18-20} uur altijd.

Gereden in {april|juni|september} door {vijf|zes|acht} leden.
Deze pagina is nagekeken door de routecommissie van de club.]],
  },
}
