package index

import (
	"fmt"
	"testing"
)

// languages has pages of the languages whose words are stemmed by their script or their language, and for each page a
// query that asks for it in other forms of its words.
var languages = map[string][][2]string{
	"Russian": {
		{
			"Сервер закрывает соединение после ошибки протокола.",
			"ошибка закрытого соединения",
		},
		{
			"Резервная копия базы данных создаётся каждую ночь.",
			"создание резервной копии",
		},
		{
			"Пользователи могут изменить свои пароли в настройках.",
			"изменение пароля пользователя",
		},
		{
			"Таблицы хранят строки, индексы ускоряют поиск.",
			"индекс таблицы",
		},
		{
			"Программа читает файлы и записывает журналы.",
			"чтение файла программой",
		},
		{
			"Новые версии библиотеки требуют обновления.",
			"новая версия библиотек",
		},
	},
	"Korean": {
		{"서버는 오류가 나면 연결을 닫습니다.", "서버에서 연결 오류"},
		{"데이터베이스의 백업은 매일 밤에 만들어집니다.", "데이터베이스 백업"},
		{"사용자는 설정에서 비밀번호를 바꿀 수 있습니다.", "사용자의 비밀번호 설정"},
		{"테이블은 행을 저장하고 색인은 검색을 빠르게 합니다.", "테이블에 색인"},
		{"프로그램이 파일을 읽고 기록을 남깁니다.", "프로그램에서 파일로"},
		{"라이브러리의 버전을 올려야 합니다.", "라이브러리 버전"},
	},
	"German": {
		{"Der Server schließt die Verbindung nach einem Fehler im Protokoll.", "geschlossene Verbindungen"},
		{
			"Eine Sicherung der Datenbank wird jede Nacht erstellt und auf dem Server gespeichert.",
			"Sicherungen von Datenbanken",
		},
		{"Die Benutzer können ihre Kennwörter in den Einstellungen ändern.", "Kennwort eines Benutzers"},
		{"Die Tabellen speichern Zeilen, und ein Index beschleunigt die Suche in der Tabelle.", "Zeile einer Tabelle"},
		{"Das Programm liest die Dateien und schreibt das Protokoll in den Ordner.", "Datei in einem Ordner"},
		{"Neue Versionen der Bibliothek sind nicht mit den alten verträglich.", "neuere Bibliotheken"},
	},
	"French": {
		{"Le serveur ferme la connexion après une erreur dans le protocole.", "erreurs de connexions"},
		{"Une sauvegarde de la base est créée pour les journaux de la nuit.", "sauvegardes et journal"},
		{"Les utilisateurs peuvent changer le mot de passe dans les réglages.", "réglage de l'utilisateur"},
		{"Les tableaux ont des lignes, et un index est utile pour la recherche.", "ligne du tableau"},
		{"Le programme lit les fichiers et écrit dans un dossier.", "dossiers et fichier"},
		{"Les nouvelles versions de la bibliothèque ne sont pas compatibles.", "bibliothèques compatible"},
	},
	"Spanish": {
		{"El servidor cierra la conexión después de un error en el protocolo.", "servidores y errores"},
		{"La copia de la base se crea para los registros de la noche.", "copias del registro"},
		{"Los usuarios pueden cambiar la contraseña en los ajustes.", "ajuste del usuario"},
		{"Las tablas tienen filas, y un índice es útil para la búsqueda.", "fila de una tabla"},
		{"El programa lee los ficheros y escribe en una carpeta.", "carpetas y fichero"},
		{"Las nuevas ediciones de la biblioteca no son compatibles con las viejas.", "bibliotecas compatible"},
	},
	"Portuguese": {
		{"O servidor fecha a ligação depois de um erro no protocolo.", "ligações dos servidores"},
		{"A cópia da base é criada para os registos da noite.", "cópias do registo"},
		{"Os utilizadores podem mudar a senha nas definições.", "definição do utilizador"},
		{"As tabelas têm linhas, e um índice é útil para a pesquisa.", "linha de uma tabela"},
		{"O programa lê os ficheiros e escreve em uma pasta.", "pastas e ficheiro"},
		{"As novas versões da biblioteca não são compatíveis com as velhas.", "bibliotecas e versão"},
	},
	"Italian": {
		{"Il server chiude la connessione dopo un errore nel protocollo.", "connessioni ed errori"},
		{"La copia della base è creata per i registri della notte.", "copie del registro"},
		{"Gli utenti possono cambiare la parola nelle impostazioni.", "impostazione dell'utente"},
		{"Le tabelle hanno delle righe, e un indice è utile per la ricerca.", "riga di una tabella"},
		{"Il programma legge i documenti e scrive in una cartella.", "cartelle e documento"},
		{"Le nuove versioni della biblioteca non sono compatibili con le vecchie.", "biblioteche e versione"},
	},
	"Arabic": {
		{"يغلق الخادم الاتصال بعد الخطأ في الشبكة.", "خادم اتصال شبكة"},
		{"تُحفظ نسخة من قاعدة البيانات كل ليلة.", "النسخة والبيانات"},
		{"يستطيع المستخدمون تغيير كلمة المرور.", "مستخدمين كلمات مرور"},
		{"الجداول تخزن الصفوف والفهرس يسرع البحث.", "فهرس وبحث"},
		{"البرنامج يقرأ الملفات ويكتب السجلات.", "برنامج ملفات سجلات"},
		{"المكتبات الجديدة تحتاج إلى التحديث.", "مكتبة تحديث"},
	},
}

// foundWords is how many words of a language's queries the hits have, a word in the same form and its stem apart.
var foundWords = map[string]int{
	"Russian": 13, "Korean": 14, "Arabic": 15, "German": 12, "French": 23, "Spanish": 24, "Portuguese": 20, "Italian": 12,
}

func TestOtherFormsOfWordsAreFound(t *testing.T) {
	for language, pairs := range languages {
		var docs []*Document
		for i, pair := range pairs {
			docs = append(docs, doc(fmt.Sprintf("https://%s.test/%d", language, i), "", pair[0]))
		}
		x := openTestIndex(t, docs)
		indexAllOf(t, x, docs)
		words := 0
		for i, pair := range pairs {
			r, err := x.Search(t.Context(), Query{Text: pair[1], Explain: true})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Hits) == 0 || r.Hits[0].URL != docs[i].URL {
				t.Errorf("%s: %q finds %+v first, want %s", language, pair[1], r.Hits, docs[i].URL)
				continue
			}
			for _, term := range r.Hits[0].Explain {
				if term.Field == "text" {
					words++
				}
			}
		}
		if words < foundWords[language] {
			t.Errorf("%s: %d words of the queries were found, want %d", language, words, foundWords[language])
		}
	}
}
